// skua/time/retry.hpp: try again what has failed, after a while.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_unless.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/task.hpp"
#include "skua/runtime/call.hpp"
#include "skua/time/backoff.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/retry_options.hpp"
#include "skua/time/sleep.hpp"
#include "skua/time/time_span.hpp"
#include "skua/time/timeout.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `auto page = co_await retry(retry_options().attempts(5).total(10s), fetch, url);`
///
/// Awaits fn(args...), which gives a result<T>, and gives that: its value, or the error of the last
/// attempt. Between attempts it sleeps for longer and longer; see retry_options. An attempt that is
/// under way when the total time is over is stopped and counts as std::errc::timed_out. Only errors
/// are tried again: an exception is thrown on at once.
///
/// A stop ends it at once, in an attempt or between two. Callable and arguments are moved along
/// (wrap references in std::ref), and every attempt is given the same ones, as lvalues. In virtual
/// time the pauses are the same in every run.
template <typename Callable, typename... Args>
[[nodiscard]] auto retry(const retry_options& how, Callable&& callable, Args&&... args) {
  using fn = std::decay_t<Callable>;
  static_assert(callable_with<fn&, std::decay_t<Args>&...>,
                "this cannot be called with these arguments: each attempt gets them as lvalues; "
                "wrap what is to be passed by reference in std::ref");
  static_assert(callable_survives<Callable>,
                "g++ would copy this temporary's captures bitwise: pass them as arguments, "
                "(fn, args...), or give the callable a name");
  using result_type = called_t<fn&, std::decay_t<Args>&...>;
  static_assert(is_result<result_type>, "retry() tells by a result<T> whether it has to try again");
  return await_retried<result_type, fn, std::decay_t<Args>...>(
      how, std::forward<Callable>(callable), std::forward<Args>(args)...);
}

// --- how

template <typename Result, typename Callable, typename... Args>
task<Result> await_retried(retry_options how, Callable callable, Args... args) {
  const instant end = now() + how.total();
  backoff pauses(how);
  for (std::uint32_t attempt = 1;; ++attempt) {
    Result got = co_await timeout_at(end, callable(args...));
    if (got.has_value() || attempt == how.attempts()) co_return got;
    if (!how.is_worth_retrying(got.error())) co_return got;
    const time_span pause = pauses.next();
    if (now() + pause >= end) co_return got;
    co_await sleep(pause);
  }
}

}  // namespace skua::inline SKUA_ABI
