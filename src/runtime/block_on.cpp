// src/runtime/block_on.cpp: a thread waits until a tree of tasks has ended.
#include "driver/process_barrier.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/scope_state.hpp"
#include "runtime/signals.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"
#include "skua/base/check.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace skua::inline SKUA_ABI {
namespace {

/// Where the kernel takes back its process-wide barrier, an end may go unnoticed: then we look this
/// often.
constexpr std::int64_t look_every = 1'000'000;

/// Makes the loop of a current_thread runtime return at a moment.
struct alarm : timer {
  alarm(scope_state& whom, std::int64_t when) noexcept : timer(ring), of(whom) { deadline = when; }
  static void ring(timer& self) noexcept { static_cast<alarm&>(self).of.signal(); }
  scope_state& of;
};

}  // namespace

void core::run_to_the_end(const spawn_request* orders, std::size_t count, task_hold* ended) {
  throw_if_forked();
  if (current().as != nullptr || current().lost != nullptr)
    throw std::logic_error(
        "skua: block_on was called on a worker, where it would block other tasks: co_await "
        "instead, or use block_in_place or spawn_blocking");
  start_driving();
  add_reference();  // the runtime object may be dropped by one of its tasks
  scope_state* scope = nullptr;
  std::size_t made = 0;
  std::vector<executor*> homes;
  try {
    homes.reserve(count);
    for (std::size_t i = 0; i < count; ++i) homes.push_back(&home_for(orders[i]));
    scope = &take_scope();
    for (; made < count; ++made) {
      task_cell& cell = take_cell(nullptr, orders[made]);
      ended[made].adopt(cell);
    }
  } catch (...) {
    while (made > 0) {
      task_cell& cell = *ended[--made].give_up();
      cell.clear();
      give_cell(nullptr, cell);
    }
    if (scope != nullptr) give_scope(*scope);
    stop_driving();
    release();
    throw;
  }

  scope->open(static_cast<std::uint32_t>(count));
  const bool admitted = outside_.enter();
  for (std::size_t i = 0; i < count; ++i) {
    task_cell& cell = *ended[i].get();
    cell.fill(orders[i], next_id(nullptr), *scope, *homes[i], true);
    if (admitted) {
      admit(cell, nullptr);
      cell.schedule();
    }
  }
  outside_.leave();
  if (admitted) run_roots(*scope);
  give_scope(*scope);
  finish_if_abandoned();
  stop_driving();
  if (!admitted)  // last: one of them may own the runtime object
    for (std::size_t i = 0; i < count; ++i) refuse(*ended[i].get());
  release();
}

void core::run_roots(scope_state& scope) noexcept {
  wait_until(
      scope, [](const scope_state& of) { return of.roots_ended() || of.failed(); }, no_deadline);
  if (scope.failed()) {
    scope.stop_newcomers();
    stop_tasks(&scope);
  }
  scope.watch();
  wait_until(
      scope, [](const scope_state& of) { return of.roots_ended() && of.quiet(); }, no_deadline);
  scope.unwatch();
}

bool core::wait_until(scope_state& scope, bool (*met)(const scope_state&),
                      std::int64_t deadline) noexcept {
  for (;;) {
    scope.forget_signal();
    if (met(scope)) return true;
    if (deadline != no_deadline && now() >= deadline) return false;
    wait_a_little(scope, deadline);
    if (!process_barrier::may_overlook()) continue;
    if (stops_everything())
      stop_tasks(nullptr);
    else if (scope.stops_newcomers())
      stop_tasks(&scope);
  }
}

void core::wait_a_little(scope_state& scope, std::int64_t deadline) noexcept {
  if (settings_.flavour == flavour::current_thread) {
    const sigpipe_pause while_it_drives;
    alarm at(scope, deadline);
    driver& sleeps_in = workers_[0]->sleeps_in();
    if (deadline != no_deadline) sleeps_in.add(at);
    workers_[0]->run(scope.signalled());
    if (deadline != no_deadline) sleeps_in.remove(at);
    return;
  }
  std::int64_t until = no_deadline;
  const std::int64_t by_kernel = monotonic_clock().now();
  if (deadline != no_deadline &&
      __builtin_add_overflow(by_kernel, std::max<std::int64_t>(deadline - now(), 0), &until))
    until = no_deadline;
  if (process_barrier::may_overlook()) until = std::min(until, by_kernel + look_every);
  scope.sleep(until);
}

void core::start_driving() {
  if (settings_.flavour != flavour::current_thread) return;
  // order: [runtime.drive] acquire: what the thread did that ran the loop before.
  if (driven_.exchange(true, std::memory_order_acquire))
    throw std::logic_error(
        "skua: block_on: another thread drives this current_thread runtime at the moment");
}

void core::stop_driving() noexcept {
  // order: [runtime.drive] release: what this thread did in the loop, to the next.
  driven_.store(false, std::memory_order_release);
}

scope_state& core::take_scope() {
  const std::lock_guard hold(scopes_mutex_);
  if (free_scopes_.empty()) {
    free_scopes_.reserve(scopes_.size() + 1);  // so that giving it back cannot fail
    const bool alone = settings_.flavour == flavour::current_thread;
    scopes_.push_back(std::make_unique<scope_state>(workers_.size(),
                                                    alone ? &workers_[0]->sleeps_in() : nullptr));
    return *scopes_.back();
  }
  scope_state& scope = *free_scopes_.back();
  free_scopes_.pop_back();
  return scope;
}

void core::give_scope(scope_state& scope) noexcept {
  const std::lock_guard hold(scopes_mutex_);
  free_scopes_.push_back(&scope);
}

}  // namespace skua::inline SKUA_ABI
