// skua/time/time_limit.hpp: awaits something until a moment.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/work.hpp"
#include "skua/coro/await_unless.hpp"
#include "skua/coro/branch_group.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/task_cancelled.hpp"
#include "skua/coro/yield.hpp"
#include "skua/driver/timer.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/time_span.hpp"

#include <system_error>

namespace skua::inline SKUA_ABI {

class driver;

/// The clock beside a branch, in the frame of the combinator: no chain of its own, but a timer that
/// the group waits for. The group's task calls all of it. The states:
///   new      not begun.
///   runs     the group counts it; it strikes at its time, on whichever thread drives.
///   is late  it was called off as it struck: the group still counts it, until it has arrived.
///   over     it has arrived, or was called off. It may die.
class [[gnu::visibility("default")]] time_limit final : private timer, private work {
public:
  explicit time_limit(branch_group& of) noexcept : timer(ring), work(strike), of_(of) {}

  /// Begins: from now on, or until then. Where there is no runtime it strikes at once.
  void start(time_span length) noexcept;
  void start(instant end) noexcept;
  /// If it has not struck it will not, and is over; or it is late, and a step away from its end.
  void call_off() noexcept;
  /// It was over before the task was to stop.
  [[nodiscard]] bool has_struck() const noexcept { return struck_; }
  /// Throws std::logic_error if it began where there is no runtime.
  void throw_if_outside() const;

private:
  static void ring(timer& due) noexcept;
  static void strike(work& item) noexcept;
  bool begins() noexcept;

  branch_group& of_;
  driver* at_ = nullptr;
  bool struck_ = false;
};

/// Awaits `what` for so long (End is time_span), or until then (instant); see timeout(). As
/// await_unless() with a sleep, without what that costs. The limit begins first, but `what` has one
/// turn in any case.
template <typename End, typename T>
task<limited<T>> await_in_time(End end, task<T> what) {
  branch_group both(co_await current_context(), branch_group::policy::wait_for_all);
  branch_of<T> works(branch_seed<T>{both, what});
  time_limit limit(both);
  both.gives_value_of(works);
  limit.start(end);
  both.start(works);
  while (both.running() > 0) {
    co_await both.step();
    if (both.running() == 1) limit.has_struck() ? both.end_all() : limit.call_off();
  }
  if (works.failed() && works.exception() == nullptr) {  // it was stopped
    if (!limit.has_struck()) {
      co_await yield();        // unwinds, if the task is to stop
      throw task_cancelled();  // no: it was its own doing
    }
    limit.throw_if_outside();
    co_return fail(std::errc::timed_out);
  }
  co_return take_limited(works);
}

}  // namespace skua::inline SKUA_ABI
