// src/driver/kernel_driver.cpp: sleep, wake, timers, and the pool.
#include "driver/kernel_driver.hpp"

#include "driver/blocking_call.hpp"

#include <mutex>
#include <utility>

namespace skua::inline SKUA_ABI {

std::expected<kernel_driver::wakers, int> kernel_driver::wakers::make() {
  auto wakes = wake_event::make();
  if (!wakes) return std::unexpected(wakes.error());
  auto rings = alarm_event::make();
  if (!rings) return std::unexpected(rings.error());
  return wakers{.wakes = std::move(*wakes), .rings = std::move(*rings)};
}

kernel_driver::kernel_driver(wakers made, const clock& time, offload_target& pool) noexcept
    : wakes_(std::move(made.wakes)), alarm_(std::move(made.rings)), pool_(pool), timers_(time) {}

// --- the sleep

void kernel_driver::look(std::size_t room) noexcept {
  if (pace_.is_due())
    drive(false, room);
  else
    glance(room);
}

bool kernel_driver::park(std::size_t room) noexcept {
  if (word_.announce()) return drive(true, room);
  drive(false, room);
  return true;
}

bool kernel_driver::wake() noexcept {
  if (!word_.notify()) return false;
  wakes_.signal();
  return true;
}

bool kernel_driver::hand_over(harvest& from) noexcept {
  if (from.ended.empty() && from.due.empty()) return false;
  while (operation* const op = from.ended.pop_front()) op->done(*op);
  while (timer* const one = from.due.pop_front()) {
    if (const timer* const next = from.due.front())
      __builtin_prefetch(next, 1);  // it may be long ago that it was set
    one->fire(*one);
  }
  return true;
}

// --- timers

void kernel_driver::add(timer& item) noexcept {
  bool sleeps_longer = false;
  {
    const std::lock_guard hold(mutex_);
    sleeps_longer = timers_.insert(item);
  }
  if (sleeps_longer) wake();
}

void kernel_driver::add_after(timer& item, std::int64_t nanoseconds) noexcept {
  bool sleeps_longer = false;
  {
    const std::lock_guard hold(mutex_);
    sleeps_longer = timers_.insert_after(item, nanoseconds);
  }
  if (sleeps_longer) wake();
}

bool kernel_driver::remove(timer& item) noexcept {
  const std::lock_guard hold(mutex_);
  return timers_.remove(item);
}

std::int64_t kernel_driver::next_deadline() noexcept {
  const std::lock_guard hold(mutex_);
  return timers_.next_deadline();
}

// One that fires nothing is the timeout of an operation.
void kernel_driver::gather_timers(harvest& into) noexcept {
  if (!timers_.may_have()) return;
  timer_list due;
  timers_.take_due(due);
  while (timer* const one = due.pop_front()) {
    if (one->fire != nullptr)
      into.due.push_back(*one);
    else
      expire(static_cast<operation&>(*one), into);
  }
}

// --- the pool

bool kernel_driver::offload(operation& op) noexcept {
  op.run = run_in_pool;
  op.interrupt = 0;
  op.at = operation::place::in_pool;
  return pool_.submit(op);
}

void kernel_driver::run_in_pool(pool_job& job) noexcept {
  auto& op = static_cast<operation&>(job);
  op.result = call_and_block(op);
  static_cast<kernel_driver*>(op.home)->came_from_pool(op);
}

void kernel_driver::came_from_pool(operation& op) noexcept {
  {
    const std::lock_guard hold(mutex_);
    let_go(op);
  }
  op.done(op);
}

void kernel_driver::let_go(operation& op) noexcept {
  op.at = operation::place::nowhere;
  if (op.expiry().linked()) timers_.remove(op.expiry());
}

}  // namespace skua::inline SKUA_ABI
