// src/process/shutdown.cpp: listen first, wait when awaited.
#include "skua/process/shutdown.hpp"

#include "skua/time/timeout.hpp"

#include <csignal>

namespace skua::inline SKUA_ABI {
namespace {

task<result<int>> await_first(result<signal::stream> signals) {
  if (!signals.has_value()) co_return fail(signals.error());
  co_return co_await signals->next();
}

task<result<void>> await_any(result<signal::stream> signals) {
  const result<int> came = co_await await_first(std::move(signals));
  if (!came.has_value()) co_return fail(came.error());
  co_return {};
}

}  // namespace

task<result<void>> ctrl_c() {
  return await_any(signal::listen(SIGINT));
}

task<result<int>> shutdown_signal(second_signal then) {
  return await_first(
      signal::start_listening({SIGINT, SIGTERM}, then == second_signal::ends_at_once));
}

task<> await_signal(task<result<int>> signal) {
  static_cast<void>(or_throw(co_await std::move(signal)));
}

result<signal::stream> listen_for_shutdown() {
  return signal::listen(SIGINT, SIGTERM);
}

task<> let_shutdown_pass(signal::stream signals, cancel_source ends, time_span grace) {
  static_cast<void>(or_throw(co_await signals.next()));
  ends.cancel();
  const result<int> again = co_await timeout(grace, signals.next());
  if (!again.has_value() && again.error() != std::errc::timed_out)
    throw_error(again.error(), "signals");
}

}  // namespace skua::inline SKUA_ABI
