// skua/runtime/call.hpp: makes a task of a callable and its arguments, and owns both.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/task.hpp"

#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// What can be called with these arguments.
template <typename Callable, typename... Args>
concept callable_with =
    requires(Callable callable, Args&&... args) { callable(std::forward<Args>(args)...); };

/// What a call gives in the end: if it gives an awaitable, what awaiting that gives.
template <typename Result>
struct called {
  using type = Result;
};
template <awaitable Result>
struct called<Result> {
  static_assert(!awaited_in_place<Result>,
                "this borrows from the function that returns it: let that be a coroutine, and "
                "co_await it there");
  using type = await_result_t<Result>;
};
template <typename Callable, typename... Args>
using called_t = typename called<std::invoke_result_t<Callable, Args...>>::type;

template <typename Callable, typename... Args>
task<called_t<Callable&, Args...>> call_owned(Callable callable, Args... args) {
  if constexpr (awaitable<std::invoke_result_t<Callable&, Args...>>)
    co_return co_await callable(std::move(args)...);
  else
    co_return callable(std::move(args)...);
}

/// Nothing runs until it is awaited or spawned. Callable and arguments are moved into the task (a
/// reference must be wrapped in std::ref), so nothing that a lambda captured can dangle.
template <typename Callable, typename... Args>
[[nodiscard]] auto call(Callable&& callable, Args&&... args) {
  static_assert(callable_with<std::decay_t<Callable>&, std::decay_t<Args>...>,
                "this cannot be called with these arguments: the task owns them and gives them "
                "away as rvalues; wrap what is to be passed by reference in std::ref");
  static_assert(callable_survives<Callable>,
                "g++ would copy this temporary's captures bitwise: pass them as arguments, "
                "(fn, args...), or give the callable a name");
  return call_owned<std::decay_t<Callable>, std::decay_t<Args>...>(std::forward<Callable>(callable),
                                                                   std::forward<Args>(args)...);
}

}  // namespace skua::inline SKUA_ABI
