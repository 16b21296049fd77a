// src/runtime/signals.hpp: what our threads do about signals.
#pragma once

#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI {

/// A write to a socket or pipe that nobody reads any more gives its error, and does not end the
/// process: SIGPIPE, which goes to the thread that writes, stays pending there. Needed besides
/// MSG_NOSIGNAL, which pipes and plain writes through a ring do not know.
///
/// For threads of our own only. Threads and processes that the calling thread starts inherit it: a
/// program that is executed has to get the mask back that the process started with.
void block_sigpipe_in_this_thread() noexcept;

/// The same for a while, on a thread that is the user's: afterwards its mask is as before, and a
/// SIGPIPE that came meanwhile is gone.
class sigpipe_pause {
public:
  sigpipe_pause() noexcept;
  sigpipe_pause(const sigpipe_pause&) = delete;
  sigpipe_pause& operator=(const sigpipe_pause&) = delete;
  ~sigpipe_pause();

private:
  bool ends_;  // it was not blocked before
};

}  // namespace skua::inline SKUA_ABI
