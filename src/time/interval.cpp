// src/time/interval.cpp: take a tick, and find out when the next one comes.
#include "skua/time/interval.hpp"

#include "skua/base/check.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI {

interval::interval(instant first, time_span period, missed_ticks late) noexcept
    : next_(first), period_(period), late_(late) {
  check(period.count() > 0, "the period of an interval is longer than 0");
}

instant interval::take() noexcept {
  const instant tick = next_;
  const instant here = now();
  next_ = tick + period_;
  if (next_ > here || late_ == missed_ticks::burst) return tick;
  if (late_ == missed_ticks::delay) {
    next_ = here + period_;
  } else {
    const std::int64_t past = (here - tick).count() % period_.count();
    next_ = here + time_span::of_nanoseconds(period_.count() - past);
  }
  return tick;
}

void interval::tick_wait::enter() noexcept {
  const bool is_free = of_.awaited_by_ == nullptr || of_.awaited_by_ == this;  // lost a race before
  check(is_free, "one task at a time waits for an interval");
  of_.awaited_by_ = this;
}

void interval::tick_wait::leave() noexcept {
  if (of_.awaited_by_ == this) of_.awaited_by_ = nullptr;
}

instant interval::tick_wait::await_resume() {
  leave();
  throw_if_outside("skua::interval: there is no runtime here whose time could pass");
  return of_.take();
}

}  // namespace skua::inline SKUA_ABI
