// src/runtime/worker.cpp: the loop.
#include "runtime/worker.hpp"

#include "driver/process_barrier.hpp"
#include "driver/thread_stack.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/virtual_clock.hpp"
#include "skua/base/check.hpp"
#include "skua/base/clock.hpp"

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
      uses_slot_(of.settings().lifo_slot),
      newest_(of.settings().order == order::lifo ? std::make_unique<lifo_deque<std_atomics>>()
                                                 : nullptr),
      id_step_(of.settings().workers + 1),
      events_in_(static_cast<std::int32_t>(of.settings().event_interval)),
      inject_interval_(of.settings().global_queue_interval == config::automatic
                           ? of.settings().event_interval
                           : static_cast<std::uint32_t>(of.settings().global_queue_interval)),
      next_id_(number + 1),
      pinned_(*this) {}

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
  runtime.cells().take_back(cells_, 0);
  current() = before;
}

// Ends when `over`, when the home thread wants the worker back, or when a task lent it to another.
void worker::loop(const std::atomic<bool>& over) noexcept {
  awake_since_ = runtime.now();
  // order: [runtime.over] acquire: what happened before the end.
  while (!over.load(std::memory_order_acquire)) {
    // order: [worker.return] acquire: the home thread has nothing more to do with the worker.
    if (!at_home_ && home_waits_.load(std::memory_order_acquire)) break;
    take_turn();
    if (!held_by_this_thread()) return;
  }
  count_busy(runtime.now());
}

void worker::count_busy(std::int64_t now) noexcept {
  counters_.busy_ns.add(static_cast<std::uint64_t>(now - awake_since_));
  awake_since_ = now;
}

void worker::take_turn() noexcept {
  runtime.check_not_forked();  // by the task that ran last
  ++tick_;
  count_turn();
  work* item = next();
  if (item == nullptr && !alone_) item = steal();
  if (item != nullptr)
    execute(*item);
  else if (alone_)
    rest_alone();
  else
    rest();
}

// A task that did much in its turn counts for as many: what it did would have been a turn each.
void worker::count_turn() noexcept {
  events_in_ -= static_cast<std::int32_t>(1 + given_ - budget);
  if (events_in_ <= 0) every_so_often();
}

void worker::expect_events_later() noexcept {
  events_in_ = static_cast<std::int32_t>(runtime.settings().event_interval);
}

void worker::every_so_often() noexcept {
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

work* worker::next() noexcept {
  from_slot_ = false;
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
  const bool some_at_home = at_home_ && !pinned_.empty();
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
    if (work* const item = queue_.pop()) return item;
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
  work* const item = slot_.take();
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
  queue_last(*item);  // others have waited long enough
  return nullptr;
}

// The own queue is empty: a share of the shared one.
work* worker::next_injected() noexcept {
  inject_queue<std_atomics>& shared = runtime.inject();
  const std::size_t waiting = shared.size();
  if (waiting == 0) return nullptr;
  const std::size_t share = (waiting / runtime.worker_count()) + 1;
  work_queue batch;
  const std::size_t got = shared.pop_batch(std::min(share, inject_batch), batch);
  if (got == 0) return nullptr;
  counters_.injected.add(got);
  work* const first = batch.pop_front();
  if (batch.empty()) return first;
  while (!batch.empty()) queue_last(*batch.pop_front());
  // While they were in no queue a worker may have looked everywhere, seen nothing and gone to
  // sleep.
  if (!alone_) wake_another();
  return first;
}

work* worker::steal() noexcept {
  if (!searching_) {
    if (!runtime.idle_workers().try_search()) return nullptr;
    searching_ = true;
  }
  work* const found = steal_once();
  if (found == nullptr) counters_.steal_misses.add();
  return found;
}

// The longest queue of those seen first; then the others, from a random one on. With deques the
// random one first: the oldest item in each is worth much, however many there are.
work* worker::steal_once() noexcept {
  const std::size_t count = runtime.worker_count();
  const auto start = static_cast<std::size_t>(random_.below(count));
  const auto victim = [&](std::size_t i) -> worker& {
    return runtime.worker_at((start + i) % count);
  };
  std::size_t longest = 0;
  for (std::size_t i = 1; i < count && newest_ == nullptr; ++i)
    if (victim(i).queued() > victim(longest).queued()) longest = i;
  for (std::size_t i = 0; i < count; ++i) {
    worker& other = victim((longest + i) % count);
    if (&other == this) continue;
    if (work* const item = steal_from(other)) return item;
  }
  return next_injected();
}

// Whoever added work while this one searched woke nobody, and relied on it.
void worker::found_while_searching() noexcept {
  searching_ = false;
  if (runtime.idle_workers().stop_searching()) wake_another();
}

void worker::wake_another() noexcept {
  if (runtime.wake_one()) counters_.wakes_sent.add();
}

void worker::execute(work& item) noexcept {
  if (searching_) found_while_searching();
  if (!from_slot_) budget = runtime.settings().budget;  // the slot inherits what is left
  given_ = budget;
  used_up = false;
  counters_.polls.add();
  item.run(item);
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
  if (stealable() > 0 || !slot_.empty()) return;
  const bool look_again = runtime.idle_workers().park(index, searching_);
  searching_ = false;
  if (look_again && work_elsewhere()) {
    // A searcher again if it may be: whoever added work relied on one, and when it finds some it
    // wakes another for what else there is.
    searching_ = !runtime.idle_workers().unpark(index) || runtime.idle_workers().try_search();
    return;
  }
  handed_over_to_ = true;
  sleep_and_watch();
  handed_over_to_ = false;
  searching_ = !runtime.idle_workers().unpark(index);
  share_what_came();
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
  if (work* const next = stuck.slot_.take()) queue_last(*next);
  // A thread that computes posts what has completed when it is next interrupted: now, and a moment
  // later it is there. The second time brings what the first has cancelled.
  for (int i = 0; i < 2; ++i) {
    process_barrier::heavy();
    wait_a_moment();
    stuck.driver_->poll();
  }
  return !nothing_to_do_here() || work_elsewhere();
}

bool worker::work_elsewhere() const noexcept {
  if (runtime.inject().size() > 0) return true;
  for (std::size_t i = 0; i < runtime.worker_count(); ++i)
    if (i != index && runtime.worker_at(i).queued() > 0) return true;
  return false;
}

// True if somebody woke it, or it did not sleep.
bool worker::sleep() noexcept {
  if (at_home_ && !pinned_.empty()) return true;
  counters_.parks.add();
  count_busy(runtime.now());
  runtime.tell_hooks(&hooks::worker_parks, index);
  bool woken = true;
  if (nothing_to_do_here()) {  // the hook may have woken or spawned a task
    woken = driver_->park(room());
    expect_events_later();
  }
  runtime.tell_hooks(&hooks::worker_unparked, index);
  awake_since_ = runtime.now();
  measured_at_ = 0;
  return woken;
}

bool worker::nothing_to_do_here() const noexcept {
  return ready_.empty() && stealable() == 0 && slot_.empty() && !(at_home_ && !pinned_.empty());
}

void worker::push(work& item) noexcept {
  if (alone_ || handed_over_to_) return queue_last(item);
  work* last = &item;
  if (uses_slot_) {
    last = slot_.put(item);
    if (last == nullptr) return;  // it runs here, next: nobody need be woken
  }
  queue_next(*last);
  wake_another();
}

void worker::push_last(work& item) noexcept {
  count_yield();
  queue_last(item);
  if (runtime.idle_workers().may_wake()) share_what_came();
}

void worker::queue_last(work& item) noexcept {
  if (placed_) return pinned_.push_here(item);
  if (alone_) {
    ready_.push_back(item);
    publish_ready();
    return;
  }
  work_queue overflow;
  queue_.push(item, overflow);
  if (!overflow.empty()) share_overflow(overflow);
}

void worker::share_overflow(work_queue& overflow) noexcept {
  counters_.overflows.add();
  runtime.inject().push_batch(overflow);
  // See next_injected(). What a driver hands over is shared afterwards: this worker may still count
  // as asleep, and would wake itself.
  if (!handed_over_to_) wake_another();
}

void worker::refill_cells() {
  runtime.cells().refill(cells_);
}

void worker::return_cells() noexcept {
  runtime.cells().take_back(cells_, cell_cache::most / 2);
}

bool worker::held_by_this_thread() const noexcept {
  return current().as == this;
}

bool worker::lend() noexcept {
  count_busy(runtime.now());
  current().as = nullptr;
  const bool from_home = at_home_;
  // order: [worker.return] acquire: as in loop().
  if (!from_home && home_waits_.load(std::memory_order_acquire)) {
    hand_home();
    return true;
  }
  at_home_ = false;
  // There may be no thread for a while: what is here can be stolen, but for the slot.
  if (work* const next = slot_.take()) queue_next(*next);
  if (stealable() > 0) wake_another();
  if (!runtime.pool().submit(substitution_)) {
    take_hold();
    return false;
  }
  // The home thread may have asked for the worker since we looked, and found nothing to withdraw:
  // it need not wait for a thread of the pool, of which there may be none. The pool's mutex orders:
  // either it finds the substitution or we find that it waits.
  // order: [worker.return] acquire: as in loop().
  if (!from_home && home_waits_.load(std::memory_order_acquire) &&
      runtime.pool().withdraw(substitution_))
    hand_home();
  return true;
}

bool worker::reclaim() noexcept {
  if (!runtime.pool().withdraw(substitution_)) return false;
  take_hold();
  return true;
}

void worker::take_hold() noexcept {
  current_state& here = current();
  here.as = this;
  here.lost = nullptr;
  at_home_ = &here == home_thread_;
  note_thread();
}

// Only who wants to see stacks needs to know it.
void worker::note_thread() noexcept {
  if (runtime.settings().stall_signal == 0) return;
  // order: none; see thread().
  thread_.store(thread_stack::this_thread(), std::memory_order_relaxed);
}

void worker::substitute(pool_job& job) noexcept {
  worker& self = static_cast<substitution&>(job).of;
  const current_state before = current();
  current() = current_state{.runtime = &self.runtime, .as = &self, .outer = &before};
  self.note_thread();
  self.loop(self.runtime.over());
  if (self.held_by_this_thread()) self.hand_home();
  current() = before;
}

void worker::hand_home() noexcept {
  // order: [worker.hand] release: all that the substitute did as this worker.
  returned_.store(true, std::memory_order_release);
  home_.wake();
}

// The home thread, after the task that lent the worker away has let go of the stack.
void worker::wait_for_return() noexcept {
  if (reclaim()) return;
  // order: [worker.return] release: what this thread did as the worker.
  home_waits_.store(true, std::memory_order_release);
  if (!reclaim()) {  // once more, see lend(): the substitute may just have lent it on
    driver_->wake();
    // order: [worker.hand] acquire: all that the substitute did.
    while (!returned_.load(std::memory_order_acquire)) home_.park(no_deadline);
    // order: none; nobody else uses this now.
    returned_.store(false, std::memory_order_relaxed);
    take_hold();
  }
  // order: none; nobody else uses this now.
  home_waits_.store(false, std::memory_order_relaxed);
}

}  // namespace skua::inline SKUA_ABI
