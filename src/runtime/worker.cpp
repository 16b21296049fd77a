// src/runtime/worker.cpp: the loop.
#include "runtime/worker.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/virtual_clock.hpp"
#include "skua/base/check.hpp"
#include "skua/base/clock.hpp"

#include <sched.h>

#include <algorithm>

namespace skua::inline SKUA_ABI {
namespace {

void wait_a_moment() noexcept {
  constexpr std::int64_t moment = 25'000;  // nanoseconds
  for (const std::int64_t end = monotonic_clock().now() + moment; monotonic_clock().now() < end;) {
  }
}

}  // namespace

worker::worker(core& of, std::size_t number, std::unique_ptr<driver> sleeps_in,
               random_generator random)
    : runtime(of),
      index(number),
      driver_(std::move(sleeps_in)),
      random_(random),
      alone_(of.settings().flavour != flavour::multi_thread),
      placed_(of.settings().flavour == flavour::thread_per_core),
      sole_(!alone_ && of.settings().workers == 1),
      uses_slot_(of.settings().lifo_slot),
      full_budget_(of.settings().budget),
      newest_(of.settings().order == order::lifo ? std::make_unique<newest_first>() : nullptr),
      id_step_(of.settings().workers + 1),
      events_in_(static_cast<std::int32_t>(of.settings().event_interval)),
      inject_interval_(of.settings().global_queue_interval == config::automatic
                           ? of.settings().event_interval
                           : static_cast<std::uint32_t>(of.settings().global_queue_interval)),
      next_id_(number + 1),
      pinned_(*this) {
  unusual_.other_kind = alone_;
}

worker::~worker() {
  check(ready_.empty() && pinned_.empty(), "a worker's queues die empty");
}

void worker::run(const std::atomic<bool>& over) noexcept {
  home_thread_ = &current();
  if (placed_) driver_->take_over();
  // What the thread did before goes on afterwards: it may be in a task or call of another runtime.
  const current_state before =
      std::exchange(current(), current_state{.runtime = &runtime, .outer = &before});
  take_hold();
  // order: [runtime.over] acquire: what happened before the end.
  while (!over.load(std::memory_order_acquire)) {
    loop(over);
    if (!held_by_this_thread()) wait_for_return();
  }
  // It may be long until somebody drives us again: timeouts that have not begun do so now.
  static_cast<void>(driver_->next_deadline());
  runtime.cells().take_all(cells_);
  current() = before;
}

// Ends when `over`, when the home thread wants the worker back, or when a task lent it to another.
void worker::loop(const std::atomic<bool>& over) noexcept {
  const current_state& here = current_in_function();
  awake_since_ = runtime.now();
  // order: [runtime.over] acquire: what happened before the end.
  while (!over.load(std::memory_order_acquire)) {
    if (unusual_.added_unseen) share_what_is_left();
    if (!unusual_.any()) [[likely]] {
      take_turn();
    } else {
      if (is_wanted_at_home()) break;
      take_unusual_turn();
    }
    if (here.as != this) return;
  }
  count_busy(runtime.now());
}

void worker::count_busy(std::int64_t now) noexcept {
  counters_.busy_ns.add(static_cast<std::uint64_t>(now - awake_since_));
  awake_since_ = now;
}

// The usual turn is one function, and the rest apart, so that it costs a turn neither calls nor
// registers.
[[gnu::always_inline]] inline void worker::take_turn() noexcept {
  runtime.check_not_forked();  // by the task that ran last
  ++tick_;
  count_turn();
  if (tick_ - looked_at_inject_ >= inject_interval_ || !pinned_.empty()) [[unlikely]]
    return take_turn_of_others();
  if (newest_ != nullptr) return take_turn_newest_first();
  if (!slot_.empty())
    if (work* const item = next_from_slot()) return execute(*item);
  lifo_streak_ = 0;
  work* item = next_in_queue();
  if (item == nullptr) [[unlikely]]
    item = next_injected();
  if (item == nullptr) [[unlikely]]
    return find_something_to_do();
  budget = full_budget_;
  execute(*item);
}

[[gnu::noinline]] void worker::take_turn_newest_first() noexcept {
  from_slot_ = false;
  work* item = next_newest_first();
  if (item == nullptr) item = next_injected();
  if (item == nullptr) return find_something_to_do();
  if (!from_slot_) budget = full_budget_;
  execute(*item);
}

[[gnu::noinline]] void worker::take_unusual_turn() noexcept {
  runtime.check_not_forked();  // by the task that ran last
  ++tick_;
  count_turn();
  take_turn_of_others();
}

// Perhaps of one in the shared queue or at home.
[[gnu::noinline]] void worker::take_turn_of_others() noexcept {
  from_slot_ = false;
  if (work* const item = next())
    execute_found(*item);
  else
    find_something_to_do();
}

[[gnu::noinline]] void worker::find_something_to_do() noexcept {
  if (alone_) return rest_alone();
  from_slot_ = false;
  if (work* const item = steal())
    execute_found(*item);
  else
    rest();
}

// A task that did much in its turn counts for as many: what it did would have been a turn each.
[[gnu::always_inline]] inline void worker::count_turn() noexcept {
  events_in_ -= static_cast<std::int32_t>(1 + given_ - budget);
  if (events_in_ <= 0) [[unlikely]]
    every_so_often();
}

void worker::expect_events_later() noexcept {
  events_in_ = static_cast<std::int32_t>(runtime.settings().event_interval);
}

[[gnu::noinline]] void worker::every_so_often() noexcept {
  expect_events_later();
  look_at_driver();
  if (runtime.settings().global_queue_interval == config::automatic)
    adapt_inject_interval(runtime.now());
}

// Tasks that take long are looked past more often.
void worker::adapt_inject_interval(std::int64_t now) noexcept {
  if (measured_at_ != 0) {
    const std::int64_t each =
        std::max<std::int64_t>(1, (now - measured_at_) / runtime.settings().event_interval);
    const auto wanted =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(look_at_inject_every / each, 2, 127));
    inject_interval_ = (inject_interval_ * 7 + wanted) / 8 + (wanted > inject_interval_ ? 1 : 0);
  }
  measured_at_ = now;
}

[[gnu::always_inline]] inline work* worker::next_in_queue() noexcept {
  const auto got = sole_ ? queue_.pop_unshared(fetch_ahead) : queue_.pop_and_peek(fetch_ahead);
  if (got.later != nullptr) cell_cache::fetch(got.later);
  return got.item;
}

work* worker::next() noexcept {
  if (placed_) return pinned_.pop();
  // Counted from the last look: an interval that changes all the time must not put it off for ever.
  if (tick_ - looked_at_inject_ >= inject_interval_) {
    looked_at_inject_ = tick_;
    if (work* const item = runtime.inject().pop()) {
      counters_.injected.add();
      return item;
    }
  }
  // Tasks at home and the others take turns, so that neither starves; not by the tick, whose even
  // numbers may all be the shared queue's.
  const bool some_at_home = !unusual_.away && !pinned_.empty();
  if (some_at_home) [[unlikely]] {
    home_is_next_ = !home_is_next_;
    if (home_is_next_)
      if (work* const item = pinned_.pop()) return item;
  }
  if (alone_) {
    if (work* const item = next_alone()) return item;
  } else if (newest_ != nullptr) {
    if (work* const item = next_newest_first()) return item;
  } else {
    if (work* const item = next_from_slot()) return item;
    if (work* const item = next_in_queue()) return item;
  }
  if (some_at_home)
    if (work* const item = pinned_.pop()) return item;
  return next_injected();
}

work* worker::next_alone() noexcept {
  work* const first = ready_.pop_front();
  publish_ready();
  return first;
}

work* worker::next_from_slot() noexcept {
  work* const item = sole_ ? slot_.take_unshared() : slot_.take();
  if (item == nullptr) {
    lifo_streak_ = 0;
    return nullptr;
  }
  if (lifo_streak_ < lifo_in_a_row) {
    ++lifo_streak_;
    from_slot_ = true;
    counters_.lifo_hits.add();
    return item;
  }
  lifo_streak_ = 0;
  from_slot_ = false;
  if (queue_.size() == 0) {  // nobody waits: as if it had been queued, and taken from there
    budget = full_budget_;
    return item;
  }
  queue_last(*item);  // others have waited long enough
  return nullptr;
}

void worker::wake_another() noexcept {
  if (runtime.wake_one()) counters_.wakes_sent.add();
}

// With what is left of the budget, which the slot inherits.
[[gnu::always_inline]] inline void worker::execute(work& item) noexcept {
  given_ = budget;
  used_up = false;
  counters_.polls.add();
  item.run(item);
}

void worker::execute_found(work& item) noexcept {
  if (unusual_.searching) found_while_searching();
  if (!from_slot_) budget = full_budget_;
  execute(item);
}

// For what a driver hands over: as much as the queue takes without giving some away, but one in any
// case, or tasks that keep it full would keep all input and output out. While there is something in
// the shared queue, no more than half of what is run meanwhile: it has its turn when this is empty.
std::size_t worker::room() const noexcept {
  if (alone_) return driver::no_limit;
  std::size_t most = decltype(queue_)::capacity - queue_.size();
  if (runtime.inject().size() > 0)
    most = std::min<std::size_t>(most, runtime.settings().event_interval / 2);
  return std::max<std::size_t>(1, most);
}

// What it hands over is queued in the order in which it came: the last to come does not overtake.
void worker::look_at_driver() noexcept {
  handed_over_to_ = true;
  driver_->look(room());
  handed_over_to_ = false;
  share_what_came();
}

// This worker runs one of them; if there are more, another may do that.
void worker::share_what_came() noexcept {
  if (!alone_ && stealable() + (slot_.empty() ? 0U : 1U) > 1) wake_another();
}

void worker::rest_alone() noexcept {
  driver_->glance(room());
  if (!ready_.empty()) return;
  if (virtual_clock* const time = runtime.virtual_time())
    if (skip_idle_time(*time)) return;
  sleep();  // whoever injects leaves a token in the driver
}

// True if there is something to do now. Whatever ends elsewhere is queued before it counts as
// ended, so the queues are looked at last; and when it counts as ended this worker is woken.
bool worker::skip_idle_time(virtual_clock& time) noexcept {
  if (time.operations() > 0 || runtime.pool().is_busy()) return false;
  if (runtime.inject().size() > 0 || !nothing_to_do_here()) return true;
  const std::int64_t next = driver_->next_deadline();
  if (next == no_deadline) return false;
  time.advance_to(next);
  driver_->glance(room());
  return true;
}

// What was submitted goes to the kernel with the call that sleeps.
void worker::rest() noexcept {
  handed_over_to_ = true;
  const bool any = driver_->glance(room());
  handed_over_to_ = false;
  if (any) share_what_came();
  if (stealable() > 0 || !slot_.empty() || lingers()) return;
  const bool look_again = runtime.idle_workers().park(index, unusual_.searching);
  unusual_.searching = false;
  if (look_again && work_elsewhere()) {
    // A searcher again if it may be: whoever added work relied on one, and when it finds some it
    // wakes another for what else there is.
    unusual_.searching =
        !runtime.idle_workers().unpark(index) || runtime.idle_workers().try_search();
    return;
  }
  handed_over_to_ = true;
  sleep_and_watch();
  handed_over_to_ = false;
  unusual_.searching = !runtime.idle_workers().unpark(index);
  share_what_came();
}

// True if there is something to do now. A searcher, on which those rely who add work meanwhile.
// What was submitted goes to the kernel first; after that it is asked only if it has something to
// say.
bool worker::lingers() noexcept {
  if (!slept_shortly_ || !unusual_.searching || !runtime.begin_lingering()) return false;
  const std::int64_t until = monotonic_clock().now() + runtime.settings().linger;
  bool any = false;
  do {
    handed_over_to_ = true;
    driver_->poll();
    handed_over_to_ = false;
    looks_.add();
    any = !nothing_to_do_here() || work_elsewhere() || is_wanted_at_home();
    if (!any) ::sched_yield();  // whoever is to answer may want this processor
  } while (!any && monotonic_clock().now() < until);
  runtime.end_lingering();
  // It came to this worker, or to any; else the next sleep tells.
  slept_shortly_ = !nothing_to_do_here() || runtime.inject().size() > 0;
  if (any) share_what_came();
  return any;
}

// The guard sleeps on when it has looked, unless it found something.
void worker::sleep_and_watch() noexcept {
  runtime.watch().sleeps(*this);
  while (!runtime.watch().look(*this))
    if (sleep() || !nothing_to_do_here()) break;
  runtime.watch().wakes(*this);
}

// The holder of `stuck` may come back at any moment: slot and driver can take that.
bool worker::serve(worker& stuck) noexcept {
  counters_.rescues.add();
  if (work* const next = stuck.slot_.rescue()) queue_last(*next);
  // A thread that computes posts what has completed when it is next interrupted: now, and a moment
  // later it is there. The second time brings what the first has cancelled.
  for (int i = 0; i < 2; ++i) {
    process_barrier::heavy();
    wait_a_moment();
    stuck.driver_->poll();
  }
  return !nothing_to_do_here() || work_elsewhere();
}

// True if somebody woke it, or it did not sleep.
bool worker::sleep() noexcept {
  if (!unusual_.away && !pinned_.empty()) return true;
  counters_.parks.add();
  count_busy(runtime.now());
  runtime.tell_hooks(&hooks::worker_parks, index);
  bool woken = true;
  if (nothing_to_do_here()) {  // the hook may have woken or spawned a task
    const std::int64_t began = monotonic_clock().now();
    woken = driver_->park(room());
    const bool shortly = monotonic_clock().now() - began < runtime.settings().linger;
    slept_shortly_ = !woken && shortly;
    woken_shortly_ = woken && shortly;
    expect_events_later();
  }
  runtime.tell_hooks(&hooks::worker_unparked, index);
  awake_since_ = runtime.now();
  measured_at_ = 0;
  return woken;
}

bool worker::nothing_to_do_here() const noexcept {
  return ready_.empty() && stealable() == 0 && slot_.empty() && (unusual_.away || pinned_.empty());
}

void worker::push(work& item) noexcept {
  if (alone_ || handed_over_to_) return queue_last(item);
  work* last = &item;
  if (uses_slot_) {
    last = slot_.put(item);
    if (last == nullptr) return;  // it runs here, next: nobody need be woken
  }
  queue_next(*last);
  offer_to_sleepers();
}

// Somebody who sleeps, and is known to, is woken at once. Whoever announces sleep at this moment is
// seen for certain only by a read-modify-write, which would wait here until the new task is in
// memory: there is one for all tasks of a turn, when it is over (share_what_is_left()). A turn that
// does not end is what the guard is for, if there is one.
void worker::offer_to_sleepers() noexcept {
  if (sole_) return;
  if (runtime.idle_workers().may_wake() || !runtime.settings().rescue)
    wake_another();
  else
    unusual_.added_unseen = true;
}

[[gnu::noinline]] void worker::share_what_is_left() noexcept {
  unusual_.added_unseen = false;
  if (runtime.worker_count() > 1 && stealable() > 0) wake_another();
}

void worker::push_last(work& item) noexcept {
  count_yield();
  queue_last(item);
  if (sole_) return;
  if (runtime.idle_workers().may_wake() || !runtime.settings().rescue) share_what_came();
}

[[gnu::noinline]] void worker::queue_last_unusual(work& item) noexcept {
  if (placed_) return pinned_.push_here(item);
  if (alone_) {
    ready_.push_back(item);
    publish_ready();
    return;
  }
  share_some(item);
}

void worker::refill_cells() {
  runtime.cells().refill(cells_);
}

void worker::return_cells() noexcept {
  runtime.cells().take_half(cells_);
}

bool worker::held_by_this_thread() const noexcept {
  return current().as == this;
}

}  // namespace skua::inline SKUA_ABI
