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

}  // namespace skua::inline SKUA_ABI
