// skua/time/interval.hpp: the same moment again and again.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/coro/promise_base.hpp"
#include "skua/coro/yield.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/time_span.hpp"
#include "skua/time/timer_wait.hpp"

#include <coroutine>

namespace skua::inline SKUA_ABI {

/// What becomes of ticks that nobody waited for in time: when a tick is taken so late that the next
/// one was due already.
enum class missed_ticks : unsigned char {
  burst,  ///< they come one after the other, without a pause, until none is left
  delay,  ///< the next comes a period after the late one was taken: the rhythm is shifted
  skip,   ///< they are left out: the next comes when it would have come in any case
};

/// A rhythm, by the clock of the runtime:
///
///   auto tick = skua::interval(1s);
///   for (;;) {
///     co_await tick.next();
///     report();
///   }
///
/// The first tick is there at once, the others a period apart from it, however long the work in
/// between takes: a tick that was taken late does not shift those that follow, unless they were
/// missed (see missed_ticks). For one task at a time; stays where it is. Allocates nothing.
class [[gnu::visibility("default")]] interval {
public:
  class tick_wait;

  /// `period` is above 0; anything else ends the program, and says so.
  template <duration_like Duration>
  explicit interval(Duration period, missed_ticks late = missed_ticks::burst) noexcept
      : interval(now(), time_span(period), late) {}
  /// The first tick comes at a moment of its own. See interval_at().
  interval(instant first, time_span period, missed_ticks late) noexcept;
  interval(const interval&) = delete;
  interval& operator=(const interval&) = delete;

  /// `co_await tick.next()` gives the moment at which the tick was due, which is not later than
  /// now(). A stop, or a lost race, loses no tick: the next call gives it. Ticks that are due
  /// already count against the task's turn. Throws std::logic_error if it would have to wait where
  /// there is no runtime.
  [[nodiscard]] tick_wait next() noexcept;

  /// The next tick comes a period from now, and so on.
  void reset() noexcept { next_ = now() + period_; }

  /// From one tick to the next.
  [[nodiscard]] time_span period() const noexcept { return period_; }

private:
  [[nodiscard]] bool is_due() const noexcept { return next_ <= now(); }
  [[nodiscard]] instant take() noexcept;

  instant next_;
  time_span period_;
  missed_ticks late_;
  const tick_wait* awaited_by_ = nullptr;
};

/// See interval::next().
class [[gnu::visibility("default")]] interval::tick_wait final : public timer_wait {
public:
  explicit tick_wait(interval& of) noexcept : of_(of) {}
  ~tick_wait() { leave(); }

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    enter();
    if (of_.is_due()) return !take_from_budget(to_frame(self));
    set_end(of_.next_);
    if (arm(to_frame(self))) start();
    return true;
  }
  instant await_resume();

private:
  [[nodiscard]] bool gives_back() const noexcept override { return true; }
  void enter() noexcept;
  void leave() noexcept;

  interval& of_;
};

inline interval::tick_wait interval::next() noexcept {
  return tick_wait(*this);
}

/// `auto tick = interval_at(now() + 1s, 1s);` is an interval whose first tick comes at that moment,
/// and not at once. Past moments make the first ticks late.
template <duration_like Duration>
[[nodiscard]] interval interval_at(instant first, Duration period,
                                   missed_ticks late = missed_ticks::burst) noexcept {
  return interval(first, time_span(period), late);
}

}  // namespace skua::inline SKUA_ABI
