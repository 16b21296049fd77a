// skua/coro/stream_for_each.hpp: where a stream ends: a loop over its values, or all of them.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/stream_adaptor.hpp"
#include "skua/coro/task.hpp"

#include <type_traits>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::stream {

/// What the body of a loop says of it: `return value > limit ? flow::leave : flow::go_on;`
enum class flow : unsigned char {
  go_on,  ///< To the next value, if there is one.
  leave,  ///< As `break` does: no more values are asked for.
};

template <typename T, typename Function>
task<given_t<Function, T>> run_for_each(async_generator<T> from, Function fn);

/// `co_await stream::for_each(source, fn);` calls `fn(value)` for each value, one after the other,
/// and awaits what it gives, if that can be awaited. A function that gives nothing sees all values
/// until the end. One that gives a `flow` can leave the loop, and for_each gives what it said last:
/// go_on means that the source has ended. The source is dropped when the loop is over.
///
/// Throws what source and function throw. A stop unwinds both; the value they were at is lost.
/// `while (auto item = co_await source.next())` does the same, with the body in place.
template <typename T, typename Function>
[[nodiscard]] auto for_each(async_generator<T> from, Function&& fn) {
  using given = given_t<std::decay_t<Function>, T>;
  static_assert(callable_survives<Function>,
                "g++ would copy this temporary's captures bitwise: give the callable a name");
  static_assert(std::is_void_v<given> || std::is_same_v<given, flow>,
                "nobody would see what the function gives: let it give nothing, or a stream::flow");
  return run_for_each<T, std::decay_t<Function>>(std::move(from), std::forward<Function>(fn));
}

/// `co_await stream::collect(source)`: all values until the end. If it throws or is stopped, those
/// that have come are lost.
template <typename T>
[[nodiscard]] task<std::vector<T>> collect(async_generator<T> from) {
  static_assert(can_be_kept<T>, "values that are kept are no references: map them");
  std::vector<T> all;
  while (auto item = co_await from.next()) all.push_back(std::move(*item));
  co_return all;
}

// --- how

template <typename T, typename Function>
task<given_t<Function, T>> run_for_each(async_generator<T> from, Function fn) {
  while (auto item = co_await from.next()) {
    if constexpr (std::is_void_v<given_t<Function, T>>) {
      if constexpr (gives_awaitable<Function, T>)
        co_await fn(static_cast<T&&>(*item));
      else
        fn(static_cast<T&&>(*item));
    } else {
      flow then = flow::go_on;
      if constexpr (gives_awaitable<Function, T>)
        then = co_await fn(static_cast<T&&>(*item));
      else
        then = fn(static_cast<T&&>(*item));
      if (then == flow::leave) co_return then;
    }
  }
  if constexpr (!std::is_void_v<given_t<Function, T>>) co_return flow::go_on;
}

}  // namespace skua::inline SKUA_ABI::stream
