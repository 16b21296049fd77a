// skua/sync/blocking.hpp: calls that block their thread, for threads that may.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/sync_wait.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// Throws std::logic_error, with `what` in it, on a worker of a runtime: other tasks would stand
/// still. Nothing in threads of one's own, in spawn_blocking() and in block_in_place().
[[gnu::visibility("default")]] void refuse_on_worker(const char* what);

/// Waits with the whole thread. `what` is the name of the call, for the message.
template <typename Awaitable>
decltype(auto) block_thread_for(const char* what, Awaitable&& awaited) {
  refuse_on_worker(what);
  return sync_wait(std::forward<Awaitable>(awaited));
}

}  // namespace skua::inline SKUA_ABI
