// skua/coro/await_in_task.hpp: a task that awaits something else, for what works on tasks only.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/task.hpp"

#include <concepts>
#include <utility>

namespace skua::inline SKUA_ABI {

template <typename T>
task<T> await_in_task(task<T> already) noexcept {
  return already;
}

/// Moves what can be moved into the task's frame.
template <std::move_constructible Awaitable>
task<await_result_t<Awaitable>> await_in_task(Awaitable awaited) {
  co_return co_await std::move(awaited);
}

/// What cannot be moved (a leaf) is borrowed: await the result in the same expression.
template <typename Awaitable>
  requires(!std::move_constructible<Awaitable> && skua_awaiter<Awaitable>)
task<await_result_t<Awaitable&>> await_in_task(Awaitable&& awaited) {
  co_return co_await awaited;
}

}  // namespace skua::inline SKUA_ABI
