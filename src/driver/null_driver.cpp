// src/driver/null_driver.cpp: a wheel under a lock, and a parker that sleeps until its next timer.
#include "driver/null_driver.hpp"

#include "driver/blocking_call.hpp"
#include "skua/base/check.hpp"

#include <cerrno>
#include <mutex>

namespace skua::inline SKUA_ABI {

null_driver::~null_driver() {
  check(failed_.empty(), "a driver dies when its operations have ended");
  timers_.remove(alarm_);
}

void null_driver::poll() noexcept {
  glance(no_limit);
}

bool null_driver::glance(std::size_t /*room*/) noexcept {
  // order: none; the owner sees its own operations, and is woken for those of others.
  if (!timers_.may_have() && !some_failed_.load(std::memory_order_relaxed)) return false;
  return hand_over();
}

bool null_driver::park(std::size_t room) noexcept {
  std::int64_t until = no_deadline;
  {
    const std::lock_guard hold(mutex_);
    if (failed_.empty())
      until = timers_.begin_sleep();
    else
      until = 0;
  }
  // The parker counts in CLOCK_MONOTONIC, the wheel perhaps in something else.
  const std::int64_t left = until == 0 ? 0 : timers_.left_until(until);
  std::int64_t by_kernel = 0;
  if (left != 0 && __builtin_add_overflow(monotonic_clock().now(), left, &by_kernel))
    by_kernel = no_deadline;
  const bool woken = parker_.park(by_kernel);
  {
    const std::lock_guard hold(mutex_);
    timers_.end_sleep();
  }
  glance(room);
  return woken;
}

void null_driver::set_alarm(std::int64_t nanoseconds) noexcept {
  const std::lock_guard hold(mutex_);
  timers_.remove(alarm_);
  alarm_.deadline = timers_.moment_after(nanoseconds);
  if (timers_.insert(alarm_)) parker_.wake();
}

void null_driver::add(timer& item) noexcept {
  const std::lock_guard hold(mutex_);
  if (timers_.insert(item)) parker_.wake();
}

void null_driver::add_after(timer& item, std::int64_t nanoseconds) noexcept {
  const std::lock_guard hold(mutex_);
  if (timers_.insert_after(item, nanoseconds)) parker_.wake();
}

bool null_driver::remove(timer& item) noexcept {
  const std::lock_guard hold(mutex_);
  return timers_.remove(item);
}

std::int64_t null_driver::next_deadline() noexcept {
  const std::lock_guard hold(mutex_);
  return timers_.next_deadline();
}

void null_driver::submit(operation& op) noexcept {
  const std::lock_guard hold(mutex_);
  op.home = this;
  op.at = operation::place::queued;
  op.result = op.code == op_code::close ? call_and_block(op) : -ENOTSUP;
  failed_.push_back(op);
  // order: none; see glance().
  some_failed_.store(true, std::memory_order_relaxed);
  if (timers_.sleeps()) parker_.wake();
}

bool null_driver::cancel(operation& op) noexcept {
  const std::lock_guard hold(mutex_);
  if (op.at != operation::place::queued) return false;
  intrusive_list<operation>::remove(op);
  op.at = operation::place::nowhere;
  return true;
}

bool null_driver::hand_over() noexcept {
  timer_list due;
  intrusive_list<operation> ended;
  {
    const std::lock_guard hold(mutex_);
    timers_.take_due(due);
    for (operation& op : failed_) op.at = operation::place::nowhere;
    ended.append(failed_);
    // order: none; see glance().
    some_failed_.store(false, std::memory_order_relaxed);
  }
  const bool any = !due.empty() || !ended.empty();
  while (timer* const first = due.pop_front()) first->fire(*first);
  while (operation* const first = ended.pop_front()) first->done(*first);
  return any;
}

}  // namespace skua::inline SKUA_ABI
