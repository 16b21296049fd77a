// skua/process/shutdown.hpp: ends a program in good order when it is asked to.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/await_unless.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/task.hpp"
#include "skua/process/signal_stream.hpp"
#include "skua/runtime/call.hpp"
#include "skua/sync/cancel_source.hpp"
#include "skua/sync/cancel_token.hpp"
#include "skua/time/time_span.hpp"

#include <system_error>
#include <utility>

namespace skua::inline SKUA_ABI {

/// What the next SIGINT or SIGTERM does, after one has come.
enum class second_signal : bool {
  ends_at_once,  ///< has its default action: it ends the process, for an operator without patience
  is_kept,       ///< is for other listeners, if there are any
};

/// `co_await ctrl_c()`: until SIGINT comes. It listens from this call on, not from the await, and
/// until the task is gone; see signal::listen() for what that means to the process, and for errors,
/// which the await gives. A stop ends it.
[[nodiscard, gnu::visibility("default")]] task<result<void>> ctrl_c();

/// `co_await shutdown_signal()`: until SIGINT or SIGTERM comes, and gives which. As ctrl_c().
[[nodiscard, gnu::visibility("default")]] task<result<int>> shutdown_signal(
    second_signal then = second_signal::ends_at_once);

/// `co_await until_shutdown(x)` for a task or anything else that can be awaited: gives what x
/// gives, in a result if it gives none. At SIGINT or SIGTERM, x is stopped and awaited: if it gives
/// nothing then, std::errc::operation_canceled. The signal after that ends the process. Await it in
/// the same expression if x is a leaf or has a name: those are borrowed.
template <typename Awaitable>
[[nodiscard]] auto until_shutdown(Awaitable&& awaited) {
  return await_until_shutdown(await_in_task(std::forward<Awaitable>(awaited)), shutdown_signal());
}

/// `co_await run_until_shutdown(10s, serve_all, settings)`: calls serve_all(token, settings), which
/// gives a task, and awaits it. At SIGINT or SIGTERM the cancel_token is cancelled, and the program
/// is asked to come to its end: to accept nothing more, and finish what it has. If it has not ended
/// after `grace`, or when the next such signal comes, it is stopped, and awaited.
///
/// Gives what the task gives, in a result if it gives none; std::errc::operation_canceled if it had
/// to be stopped; an error of signal::listen(), and then nothing was called. The callable and its
/// arguments are moved along. A stop of the calling task stops all of it.
template <duration_like Duration, typename Callable, typename... Args>
[[nodiscard]] auto run_until_shutdown(Duration grace, Callable&& callable, Args&&... args) {
  static_assert(callable_survives<Callable>,
                "g++ would copy this temporary's captures bitwise: pass them as arguments, "
                "(grace, fn, args...), or give the callable a name");
  cancel_source ends;
  auto program = call(std::forward<Callable>(callable), ends.token(), std::forward<Args>(args)...);
  return await_program(std::move(program), std::move(ends), time_span(grace));
}

// --- how

/// Throws std::system_error if it fails.
[[gnu::visibility("default")]] task<> await_signal(task<result<int>> signal);

template <typename T>
task<limited<T>> await_until_shutdown(task<T> what, task<result<int>> signal) {
  co_return co_await await_unless(std::move(what), await_signal(std::move(signal)),
                                  std::errc::operation_canceled);
}

/// Until the program is to be stopped.
[[gnu::visibility("default")]] task<> let_shutdown_pass(signal::stream signals, cancel_source ends,
                                                        time_span grace);
[[nodiscard, gnu::visibility("default")]] result<signal::stream> listen_for_shutdown();

template <typename T>
task<limited<T>> await_program(task<T> program, cancel_source ends, time_span grace) {
  result<signal::stream> signals = listen_for_shutdown();
  if (!signals.has_value()) co_return fail(signals.error());
  co_return co_await await_unless(std::move(program),
                                  let_shutdown_pass(std::move(*signals), std::move(ends), grace),
                                  std::errc::operation_canceled);
}

}  // namespace skua::inline SKUA_ABI
