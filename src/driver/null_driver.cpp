// src/driver/null_driver.cpp: a wheel under a mutex, and a parker that sleeps until its next timer.
#include "driver/null_driver.hpp"

namespace skua::inline SKUA_ABI {

void null_driver::poll() noexcept {
  // order: none; the owner sees its own timers, and is woken for those of others.
  if (has_timers_.load(std::memory_order_relaxed)) fire_due();
}

void null_driver::park() noexcept {
  std::int64_t until = no_deadline;
  {
    const std::lock_guard hold(mutex_);
    sleeps_until_ = until = wheel_.next_deadline();
  }
  if (until != no_deadline) until = by_kernel(until);
  parker_.park(until);
  {
    const std::lock_guard hold(mutex_);
    sleeps_until_ = awake;
  }
  poll();
}

// The parker counts in CLOCK_MONOTONIC, the wheel perhaps in something else.
std::int64_t null_driver::by_kernel(std::int64_t deadline) const noexcept {
  const std::int64_t now = time_.now();
  if (deadline <= now) return 0;
  std::int64_t left = 0;
  std::int64_t until = 0;
  const bool for_ever = __builtin_sub_overflow(deadline, now, &left) ||
                        __builtin_add_overflow(monotonic_clock().now(), left, &until);
  return for_ever ? no_deadline : until;
}

void null_driver::add(timer& item) noexcept {
  const std::lock_guard hold(mutex_);
  wheel_.insert(item, time_.now());
  // order: none; see poll().
  has_timers_.store(true, std::memory_order_relaxed);
  if (sleeps_until_ != awake && item.deadline < sleeps_until_) parker_.wake();
}

bool null_driver::remove(timer& item) noexcept {
  const std::lock_guard hold(mutex_);
  return wheel_.remove(item);
}

void null_driver::fire_due() noexcept {
  intrusive_list<timer> due;
  {
    const std::lock_guard hold(mutex_);
    wheel_.advance(time_.now(), due);
    // order: none; see poll().
    has_timers_.store(!wheel_.empty(), std::memory_order_relaxed);
  }
  while (timer* const first = due.pop_front()) first->fire(*first);
}

}  // namespace skua::inline SKUA_ABI
