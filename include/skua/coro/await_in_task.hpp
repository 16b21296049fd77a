// skua/coro/await_in_task.hpp: a task that awaits something else, for what works on tasks only.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/in_place_task.hpp"
#include "skua/coro/task.hpp"

#include <concepts>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

template <typename T>
inline constexpr bool is_task = false;
template <typename T>
inline constexpr bool is_task<task<T>> = true;

/// Moves a temporary into the task's frame.
template <typename Awaitable>
task<await_result_t<Awaitable>> await_owned(Awaitable awaited) {
  co_return co_await std::move(awaited);
}

/// Awaits an object where it is: one that has a name, or a temporary of the same expression.
template <typename Awaitable>
task<await_result_t<Awaitable&>> await_borrowed(Awaitable& awaited) {
  co_return co_await awaited;
}

/// A task is taken as it is; a temporary that can be moved is moved; the rest (a leaf, a named
/// awaitable) is borrowed: see made_of(), which keeps the result in the same expression.
template <typename Awaitable>
auto await_in_task(Awaitable&& awaited) {
  using plain = std::remove_cvref_t<Awaitable>;
  constexpr bool named = std::is_lvalue_reference_v<Awaitable>;
  if constexpr (awaited_as_rvalue<plain>) {
    static_assert(!named, "this is awaited once, as an rvalue: pass std::move(x)");
    if constexpr (is_task<plain>)
      return std::forward<Awaitable>(awaited);
    else if constexpr (awaited_in_place<plain>)
      return std::forward<Awaitable>(awaited).take();
    else
      return await_owned<plain>(std::forward<Awaitable>(awaited));
  } else {
    static_assert(awaitable<Awaitable>, "this type cannot be awaited: it has no await_ready()");
    if constexpr (named || !std::move_constructible<plain>)
      return await_borrowed(awaited);
    else
      return await_owned<plain>(std::forward<Awaitable>(awaited));
  }
}

}  // namespace skua::inline SKUA_ABI
