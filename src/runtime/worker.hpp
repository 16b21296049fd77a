// src/runtime/worker.hpp: one worker: its queues, its driver and the loop that runs tasks.
#pragma once

#include "driver/driver.hpp"
#include "driver/futex.hpp"
#include "driver/parker.hpp"
#include "driver/process_barrier.hpp"
#include "runtime/cell_pool.hpp"
#include "runtime/home_queue.hpp"
#include "runtime/worker_counters.hpp"
#include "sched/lifo_deque.hpp"
#include "sched/lifo_slot.hpp"
#include "sched/local_queue.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/cache_line.hpp"
#include "skua/base/random.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"
#include "skua/coro/context_base.hpp"
#include "skua/driver/pool_job.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI {

class core;
class virtual_clock;
struct current_state;

/// A worker is held by one thread at a time, its *holder*; only that thread touches it, unless
/// something else is said. At rest that is its *home* thread, which it started on. While that one
/// is in a blocking section a *substitute*, a thread of the blocking pool, holds it.
///
/// One turn of the loop, in this order:
///   every event_interval turns, or things done in them: look at the driver
///   every global_queue_interval turns: the shared queue first
///   the slot (at most 3 times in a row), the own queue, a batch of the shared queue
///   steal from another worker
///   look at the driver, announce sleep, look once more, park
/// With order::lifo what tasks here spawn and wake goes to a deque instead of the queue, newest
/// first, which comes before the queue (newest_first.cpp).
class alignas(interference_distance) worker final : public turn {
public:
  worker(core& of, std::size_t index, std::unique_ptr<driver> sleeps_in, random_generator random);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  /// The loop, on the home thread: until `over`, which whoever sets also wakes the driver for.
  void run(const std::atomic<bool>& over) noexcept;

  // For the task that runs here.

  /// A task that was woken or spawned: it runs next, or soon.
  void push(work& item) noexcept;
  /// One that gives way: it runs after everything that is here.
  void push_last(work& item) noexcept;
  /// Takes one out that would be next in one of the queues here, or that was just spawned here: who
  /// awaits it runs it, which counts as a turn. False if it is elsewhere.
  [[nodiscard]] bool take_back(task_cell& item) noexcept;
  /// What that has offered to others meanwhile, and put behind all that is here; null if nothing.
  /// The caller withdraws it when the task has run in place.
  [[nodiscard]] work* what_was_offered() noexcept { return std::exchange(offered_, nullptr); }
  void withdraw_offer(work& item) noexcept;
  [[nodiscard]] task_cell& take_cell() {
    if (cells_.first == nullptr) [[unlikely]]
      refill_cells();
    return *cells_.take();
  }
  void give_cell(task_cell& cell) noexcept {
    cells_.give(cell);
    if (cells_.count > cell_cache::most) [[unlikely]]
      return_cells();
  }
  [[nodiscard]] std::uint64_t next_id() noexcept {
    return std::exchange(next_id_, next_id_ + id_step_);
  }
  void count_cancelled() noexcept { counters_.cancelled.add(); }
  /// For a task that gives way.
  void count_yield() noexcept {
    if (used_up) counters_.budget_yields.add();
  }
  void count_injected(std::size_t items) noexcept { counters_.injected.add(items); }
  void count_wake() noexcept { counters_.wakes_sent.add(); }
  void note_latency(std::int64_t waited) noexcept { counters_.schedule_latency.add(waited); }
  void note_run_time(std::int64_t ran) noexcept { counters_.run_time.add(ran); }
  void set_running(task_cell& task) noexcept {
    // order: [worker.running] release: the making of the cell, which may be a new one.
    running_.store(&task, std::memory_order_release);
  }
  /// Tasks that stay on the home thread go here.
  [[nodiscard]] home_queue& pinned() noexcept { return pinned_; }
  [[nodiscard]] bool at_home() const noexcept { return !unusual_.away; }

  // Blocking sections; by the holder, in a task.

  /// Hands the worker to a substitute. False if there is none to be had.
  bool lend() noexcept;
  /// Takes it back if no substitute has begun. False if one has: the thread is no worker now, until
  /// it is back in run().
  bool reclaim() noexcept;

  // For the watch; by the holder.

  /// Takes over what waits at `stuck`: its slot, its timers, its I/O. True if there is something to
  /// run now.
  [[nodiscard]] bool serve(worker& stuck) noexcept;

  // From any thread.

  [[nodiscard]] driver& sleeps_in() noexcept { return *driver_; }
  [[nodiscard]] std::size_t queued() const noexcept {
    if (placed_) return pinned_.size();
    // order: none; a number that stands for itself.
    return alone_ ? ready_length_.load(std::memory_order_relaxed) : stealable();
  }
  [[nodiscard]] const worker_counters& counters() const noexcept { return counters_; }
  /// Grows with every task it runs, every sleep, and every look instead of a sleep.
  [[nodiscard]] std::uint64_t progress() const noexcept {
    return counters_.polls.read() + counters_.parks.read() + looks_.read();
  }
  /// The kernel's number of the thread that holds it, or held it last.
  [[nodiscard]] std::int32_t thread() const noexcept {
    // order: none; a number that stands for itself.
    return thread_.load(std::memory_order_relaxed);
  }
  /// The task that it runs, or ran last; null before the first.
  [[nodiscard]] task_cell* running() const noexcept {
    // order: [worker.running] acquire: there is a cell, which whoever looks has to pin.
    return running_.load(std::memory_order_acquire);
  }

  core& runtime;
  const std::size_t index;

private:
  static constexpr int lifo_in_a_row = 3;
  static constexpr std::size_t inject_batch = 128;
  static constexpr std::uint32_t fetch_ahead = 3;
  // Looks at the shared queue, with order::lifo.
  static constexpr std::uint32_t look_at_oldest_every = 64;
  static constexpr std::int64_t look_at_inject_every = 200'000;  // nanoseconds

  static void substitute(pool_job& job) noexcept;
  void loop(const std::atomic<bool>& over) noexcept;
  void take_turn() noexcept;
  void take_turn_newest_first() noexcept;
  void take_unusual_turn() noexcept;
  void take_turn_of_others() noexcept;
  void find_something_to_do() noexcept;
  void count_turn() noexcept;
  void expect_events_later() noexcept;
  void every_so_often() noexcept;
  void refill_cells();
  void return_cells() noexcept;
  [[nodiscard]] work* next() noexcept;
  [[nodiscard]] work* next_in_queue() noexcept;
  [[nodiscard]] work* next_from_slot() noexcept;
  [[nodiscard]] work* next_alone() noexcept;
  [[nodiscard]] bool take_from_slot() noexcept;
  [[nodiscard]] bool take_next(task_cell& item) noexcept;
  [[nodiscard]] bool take_unstarted(task_cell& item) noexcept;
  void offer_what_was_next() noexcept;
  [[nodiscard]] work* next_newest_first() noexcept;
  [[nodiscard]] work* next_in_line() noexcept;
  [[nodiscard]] work* next_injected() noexcept;
  [[nodiscard]] work* steal() noexcept;
  [[nodiscard]] work* steal_once() noexcept;
  [[nodiscard]] work* steal_from(worker& other) noexcept;
  void found_while_searching() noexcept;
  void wake_another() noexcept;
  void execute(work& item) noexcept;
  void execute_found(work& item) noexcept;
  [[nodiscard]] std::size_t room() const noexcept;
  void look_at_driver() noexcept;
  void share_what_came() noexcept;
  void offer_to_sleepers() noexcept;
  void share_what_is_left() noexcept;
  void rest() noexcept;
  [[nodiscard]] bool lingers() noexcept;
  void rest_alone() noexcept;
  bool skip_idle_time(virtual_clock& time) noexcept;
  [[nodiscard]] bool work_elsewhere() const noexcept;
  [[nodiscard]] bool nothing_to_do_here() const noexcept;
  bool sleep() noexcept;
  void sleep_and_watch() noexcept;
  void count_busy(std::int64_t now) noexcept;
  void queue_last(work& item) noexcept {
    if (alone_ || !queue_.try_push(item)) [[unlikely]]
      queue_last_unusual(item);
  }
  void queue_last_unusual(work& item) noexcept;
  void queue_last(std::span<work* const> items) noexcept;
  void queue_first(work& item) noexcept;
  void queue_next(work& item) noexcept {
    newest_ == nullptr ? queue_last(item) : queue_first(item);
  }
  void share_some(work& item) noexcept;
  void share_overflow(work_queue& overflow) noexcept;
  void overflowed() noexcept;
  [[nodiscard]] std::size_t stealable() const noexcept {
    return queue_.size() + (newest_ == nullptr ? 0 : newest_->size());
  }
  void publish_ready() noexcept {
    // order: none; see queued().
    ready_length_.store(ready_.size(), std::memory_order_relaxed);
  }
  void adapt_inject_interval(std::int64_t now) noexcept;
  [[nodiscard]] bool is_wanted_at_home() const noexcept {
    // order: [worker.return] acquire: the home thread has nothing more to do with the worker.
    return unusual_.away && home_waits_.load(std::memory_order_acquire);
  }
  void hand_home() noexcept;
  void wait_for_return() noexcept;
  void take_hold() noexcept;
  void note_thread() noexcept;
  [[nodiscard]] bool held_by_this_thread() const noexcept;

  const std::unique_ptr<driver> driver_;
  random_generator random_;
  const bool alone_;   // nobody to steal from, and nobody who steals
  const bool placed_;  // thread_per_core: all tasks are in pinned_, none in the shared queue
  const bool sole_;    // multi_thread, but nobody to steal from
  const bool uses_slot_;
  const std::uint32_t full_budget_;
  using newest_first = lifo_deque<std_atomics, process_barrier>;
  const std::unique_ptr<newest_first> newest_;  // order::lifo; null: fifo
  const std::uint64_t id_step_;                 // each worker counts in a residue class of its own

  // For the holder.
  std::uint32_t tick_ = 0;
  std::int32_t events_in_;   // so many turns
  std::uint32_t given_ = 0;  // the budget that the task of the last turn began with
  std::uint32_t inject_interval_;
  std::uint32_t looked_at_inject_ = 0;  // the tick
  std::uint32_t looked_at_line_ = 0;    // the tick
  std::uint32_t looked_at_oldest_ = 0;  // the tick
  bool home_is_next_ = false;
  int lifo_streak_ = 0;
  /// Nothing of this in most turns: one look for all.
  struct exceptions {
    bool searching = false;
    bool added_unseen = false;  // a worker that just went to sleep may not know of it
    bool away = false;          // a substitute holds it
    bool other_kind = false;    // not multi_thread

    [[nodiscard]] bool any() const noexcept { return std::bit_cast<std::uint32_t>(*this) != 0; }
  };
  exceptions unusual_;
  work* offered_ = nullptr;
  bool slept_shortly_ = false;   // so that it had better have stayed awake: see config::linger
  bool woken_shortly_ = false;   // the same, if there is something for it that it was woken for
  bool handed_over_to_ = false;  // the driver hands over: what comes is queued in its order
  bool from_slot_ = false;
  std::int64_t measured_at_ = 0;  // 0: not since the last sleep
  std::int64_t awake_since_ = 0;
  std::uint64_t next_id_;
  cell_cache cells_;
  work_queue ready_;                          // instead of queue_ and slot_, if alone
  std::atomic<std::size_t> ready_length_{0};  // for those who look on
  home_queue pinned_;

  // Where others come to steal.
  local_queue<std_atomics> queue_;
  lifo_slot<std_atomics, process_barrier> slot_;
  worker_counters counters_;
  counter looks_;  // while it lingers
  std::atomic<task_cell*> running_{nullptr};
  std::atomic<std::int32_t> thread_{0};

  // The hand-over to a substitute and back.
  struct substitution : pool_job {
    explicit substitution(worker& whom) noexcept : pool_job(substitute), of(whom) {}
    worker& of;
  };
  substitution substitution_{*this};
  const current_state* home_thread_ = nullptr;
  std::atomic<bool> home_waits_{false};      // the home thread wants it back
  std::atomic<bool> returned_{false};        // it has it
  parker<std_atomics, process_futex> home_;  // where the home thread waits for that
};

}  // namespace skua::inline SKUA_ABI
