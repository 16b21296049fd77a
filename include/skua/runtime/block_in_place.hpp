// skua/runtime/block_in_place.hpp: blocks in a task without holding up its worker.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/runtime/call.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

class worker;

/// While it lives, the calling thread is no worker: another thread goes on with its queue. Nested
/// ones and those outside a runtime do nothing. Nothing is awaited inside: it ends on the thread,
/// and in the turn, that it began in.
class [[gnu::visibility("default")]] blocking_section {
public:
  blocking_section();
  blocking_section(const blocking_section&) = delete;
  blocking_section& operator=(const blocking_section&) = delete;
  ~blocking_section();

private:
  worker* left_;
  const void* thread_;
};

/// Calls `fn`, which may block, on this thread, and gives what it gives. The other tasks of this
/// worker go on meanwhile on another thread; the calling task does not, branches of it neither, nor
/// a task that awaits it and runs it (see join_handle): a stop of that one comes to it afterwards.
/// For calls that need this stack or this thread; otherwise prefer spawn_blocking().
///
/// Throws std::logic_error on a current_thread runtime, which has no other thread, and on a
/// thread_per_core runtime, whose tasks stay on theirs. Outside a runtime it just calls.
template <typename Callable>
decltype(auto) block_in_place(Callable&& fn) {
  const blocking_section elsewhere;
  return std::forward<Callable>(fn)();
}

}  // namespace skua::inline SKUA_ABI
