// skua/process/signal_stream.hpp: signals of the process, for tasks that wait for them.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"

#include <concepts>
#include <initializer_list>
#include <utility>

namespace skua::inline SKUA_ABI {
class signal_listener;
}

namespace skua::inline SKUA_ABI::signal {

/// Hears of some signals from listen() on:
///
///   auto reload = or_throw(signal::listen(SIGHUP));
///   while (co_await reload.next()) co_await load_settings();
///
/// Any number of streams may listen to the same signal, in any number of runtimes: each hears of
/// it. As with all signals, several that come before anybody looks may be one: at least one is
/// heard after the last that came. Belongs to one task at a time. Costs a descriptor.
class [[gnu::visibility("default")]] stream {
public:
  /// `from` hears of nothing then.
  stream(stream&& from) noexcept : who_(std::exchange(from.who_, nullptr)) {}
  /// The two change places.
  stream& operator=(stream&& from) noexcept {
    std::swap(who_, from.who_);
    return *this;
  }
  ~stream();

  /// Suspends until one of the signals has come, and gives its number. Stopped, or beaten in a
  /// race: it is kept for the next call.
  [[nodiscard]] task<result<int>> next();

private:
  friend result<stream> start_listening(std::initializer_list<int> signals, bool next_ends);
  explicit stream(signal_listener& who) noexcept : who_(&who) {}

  signal_listener* who_;
};

/// Use listen(). `next_ends`: see shutdown_signal().
[[nodiscard, gnu::visibility("default")]] result<stream> start_listening(
    std::initializer_list<int> signals, bool next_ends);

/// Listens to signals by their numbers: `listen(SIGHUP, SIGUSR1)`. Does not suspend; from any
/// thread.
///
/// The first listener of a signal installs a handler for the whole process, which stays there: from
/// then on the signal has its default action no more (SIGTERM does not end the process), also when
/// the last stream is gone; the code of this library may not be unloaded any more. A handler that
/// was there before is still called. A forked child has the default action, or what was there
/// before, until it listens itself; an executed program has the default action. Nobody changes the
/// signal mask: what all threads block, as they may have inherited it, is not heard.
///
/// Fails with std::errc::invalid_argument for what is no signal, SIGKILL and SIGSTOP, which nobody
/// handles, and SIGSEGV, SIGBUS, SIGFPE and SIGILL, which tell of a fault of one thread;
/// std::errc::too_many_files_open and its like. Throws std::bad_alloc.
template <std::same_as<int>... Signals>
  requires(sizeof...(Signals) > 0)
[[nodiscard]] result<stream> listen(Signals... signals) {
  return start_listening({signals...}, false);
}

}  // namespace skua::inline SKUA_ABI::signal
