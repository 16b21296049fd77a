// skua/time/virtual_time.hpp: tests in which days pass in no time, always in the same way.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/run.hpp"
#include "skua/runtime/runtime.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/time_span.hpp"

#include <source_location>
#include <utility>

namespace skua::inline SKUA_ABI::testing {

/// Runs `root` (see skua::spawn() for what can be run) on a current_thread runtime of its own, on
/// the calling thread, in virtual time:
///
///   skua::testing::virtual_time([]() -> skua::task<> {
///     co_await skua::sleep(24h);  // takes microseconds, and exactly a day by skua::now()
///   });
///
/// The clock stands still while any task has something to do. When all wait it jumps to the next
/// timer: sleeps, timeouts and intervals end exactly in time, and in the same order in every run.
///
/// What takes its own time makes the clock stand still: while an operation of the kernel's or a
/// blocking call is under way no time passes, not even for its own timeout, unless somebody calls
/// advance(). So test what waits for both with channels or gates in place of sockets. What other
/// threads do is not known here: time does not wait for them.
///
/// Gives the value of `root`, rethrows its exception, and ends with all that it has spawned. Throws
/// std::system_error if the runtime cannot start. For a runtime with other settings set
/// config::virtual_time.
template <typename Spawnable>
decltype(auto) virtual_time(Spawnable&& root,
                            std::source_location where = std::source_location::current()) {
  config settings;
  settings.flavour = flavour::current_thread;
  settings.virtual_time = true;
  auto here = runtime::start(settings);
  if (!here) throw_start_error(here.error());
  return here->block_on(std::forward<Spawnable>(root), where);
}

/// Moves virtual time to the next timer, but not past `end`, and hands over what is due. True if it
/// is `end` now. By a task of a runtime with virtual time; anywhere else it ends the program.
[[gnu::visibility("default")]] bool move_time(instant end) noexcept;

/// advance() to a moment.
inline task<> advance_to(instant end) {
  while (!move_time(end)) co_await yield();
  co_await yield();
}

/// `co_await advance(10min);` lets virtual time pass although tasks are busy or operations under
/// way. It stops at each timer on its way, and gives whoever waited for that a turn. A stop of the
/// task ends it there. By a task of a runtime with virtual time; anywhere else it ends the program,
/// and says so.
template <duration_like Duration>
[[nodiscard]] task<> advance(Duration length) {
  return advance_to(now() + time_span(length));
}

}  // namespace skua::inline SKUA_ABI::testing
