// skua/coro/sync_wait.hpp: runs a task on the calling thread and blocks until it has ended.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/promise_base.hpp"
#include "skua/coro/task.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// Starts `root` on the calling thread, resumes it there, and sleeps while it waits. Returns the
/// frame when it has its result, null if it was stopped.
[[nodiscard, gnu::visibility("default")]] frame_handle drive_until_ended(
    frame_handle root) noexcept;

/// For threads that belong to no runtime: gives the value, rethrows the exception, or throws
/// task_cancelled. Never call it inside a coroutine: it blocks the thread that runs it.
template <typename Awaitable>
decltype(auto) sync_wait(Awaitable&& awaited) {
  auto whole = await_in_task(std::forward<Awaitable>(awaited));
  using kind = decltype(whole);
  const auto root = whole.release();
  if (drive_until_ended(to_frame(root)) == nullptr) throw_missing_value(nullptr);
  const kind owner(root);
  check(!root.promise().result().stopped(),
        "a task<T> ends with co_return; this one ran off its end");
  return std::move(root.promise().result()).value();
}

}  // namespace skua::inline SKUA_ABI
