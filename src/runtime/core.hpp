// src/runtime/core.hpp: what the workers of one runtime share.
#pragma once

#include "driver/fork_guard.hpp"
#include "runtime/blocking_pool.hpp"
#include "runtime/cell_pool.hpp"
#include "runtime/cpu_pinning.hpp"
#include "runtime/current.hpp"
#include "runtime/scope_state.hpp"
#include "runtime/stall_watch.hpp"
#include "runtime/virtual_clock.hpp"
#include "sched/admission.hpp"
#include "sched/idle.hpp"
#include "sched/inject_queue.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/check.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/executor.hpp"
#include "skua/driver/timer.hpp"
#include "skua/runtime/config.hpp"
#include "skua/runtime/hooks.hpp"
#include "skua/runtime/metrics.hpp"
#include "skua/runtime/runtime.hpp"
#include "skua/runtime/spawned_task.hpp"
#include "skua/runtime/start_error.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace skua::inline SKUA_ABI {

class driver;
class fd_table;
class worker;

/// Counted references keep it: the runtime object's, each runtime_handle's, each thread's; and,
/// when all these are gone, one for all the join handles that are left.
class core final : public executor {
public:
  /// The caller has one reference.
  [[nodiscard]] static std::expected<core*, start_error> start(const config& settings);

  void add_reference() noexcept;
  void release() noexcept;

  // The executor of every task that may run anywhere.
  void schedule(work& item) noexcept override;
  void defer(work& item) noexcept override;
  void offload(work& item) noexcept override;

  // Spawning (spawn.cpp).

  enum class place : unsigned char { anywhere, this_worker };
  /// In the scope of the running task, or the runtime's own if `background` or if there is none.
  /// `here` is the calling thread's, and its runtime is this one.
  [[nodiscard]] task_cell* spawn_inside(const current_state& here, const spawn_request& order,
                                        bool background, place where);
  /// From anywhere; refused after shutdown: the task is then cancelled.
  [[nodiscard]] task_cell* spawn_from_outside(const spawn_request& order);
  [[nodiscard]] bool has_room() const noexcept {
    return waiting_outside() < settings_.spawn_queue_limit;
  }
  /// Runs the roots and all beneath them to their end. Throws before it has taken any of them.
  void run_to_the_end(const spawn_request* orders, std::size_t count, task_hold* ended);

  // Where tasks are placed (place.cpp).

  /// thread_per_core: each task has a worker.
  [[nodiscard]] bool places() const noexcept {
    return settings_.flavour == flavour::thread_per_core;
  }
  /// How many tasks live on a worker; of a runtime that places them.
  [[nodiscard]] std::size_t load_of(std::size_t worker) const noexcept;
  /// Work that came from other threads, and that no worker has taken yet.
  [[nodiscard]] std::size_t waiting_outside() const noexcept;

  // The end of a task. `here` is this_worker(), asked after the last code of the user's, which may
  // have lent the worker away.

  void count_cancelled(worker* here) noexcept;
  /// Before anybody is told of the end.
  void count_departure(worker* here) noexcept;
  void free_cell(task_cell& cell) noexcept;  // runs code of the user's
  void count_end(const worker* here, scope_state& within) noexcept;

  // Shutdown (shutdown.cpp).

  [[nodiscard]] shutdown_report shut_down(std::int64_t timeout);
  /// True when all tasks have ended by themselves: then it is over (drain.cpp).
  [[nodiscard]] bool drain(std::int64_t timeout);
  /// True from step 2 on.
  [[nodiscard]] bool stops_everything() const noexcept { return everything_->stops_newcomers(); }
  /// For ~runtime() in one of our own tasks.
  void abandon() noexcept;
  [[nodiscard]] bool is_current() const noexcept { return current().runtime == this; }
  /// Also if it drives another runtime at the moment: nobody can wait for our end there.
  [[nodiscard]] bool is_beneath_this_thread() const noexcept;

  // Looking (inspect.cpp).

  [[nodiscard]] metrics_snapshot metrics();
  [[nodiscard]] const driver_info& how_driven() const noexcept { return driver_info_; }
  [[nodiscard]] std::vector<task_info> tasks();

  // For workers and queues.

  [[nodiscard]] const config& settings() const noexcept { return settings_; }
  [[nodiscard]] std::int64_t now() const noexcept { return clock_->now(); }
  /// A deadline so many nanoseconds from now, or now if they are negative; perhaps never.
  [[nodiscard]] std::int64_t deadline_after(std::int64_t nanoseconds) const noexcept {
    std::int64_t then = 0;
    const bool never = __builtin_add_overflow(now(), nanoseconds < 0 ? 0 : nanoseconds, &then);
    return never ? no_deadline : then;
  }
  /// Null if time passes by itself.
  [[nodiscard]] virtual_clock* virtual_time() noexcept {
    return virtual_clock_ ? &*virtual_clock_ : nullptr;
  }
  /// By a thread of the pool: virtual time may pass again, and the worker may sleep until then.
  void call_has_ended() noexcept;
  [[nodiscard]] inject_queue<std_atomics, short_lock>& inject() noexcept { return inject_; }
  [[nodiscard]] idle<std_atomics>& idle_workers() noexcept { return idle_; }
  [[nodiscard]] stall_watch& watch() noexcept { return watch_; }
  [[nodiscard]] cell_pool& cells() noexcept { return cells_; }
  [[nodiscard]] blocking_pool& pool() noexcept { return pool_; }
  [[nodiscard]] std::size_t worker_count() const noexcept { return workers_.size(); }
  [[nodiscard]] worker& worker_at(std::size_t index) noexcept { return *workers_[index]; }
  [[nodiscard]] const std::atomic<bool>& over() const noexcept { return over_; }
  [[nodiscard]] const std::string& blocking_thread_name() const noexcept { return blocking_name_; }

  /// The worker of ours that the calling thread is; or null.
  [[nodiscard]] worker* this_worker() const noexcept { return current().worker_of(*this); }

  /// The one of the worker that the calling thread is, or was before a blocking section; of any
  /// worker if it never was one.
  [[nodiscard]] driver& driver_of_this_thread() noexcept;

  /// After work was added that any worker may run. True if one was woken.
  bool wake_one() noexcept;
  /// A worker was woken, by worker `by` or, if null, by another thread.
  void count_wake(worker* by) noexcept;

  /// A worker without work stays awake for a while. False if another does.
  [[nodiscard]] bool begin_lingering() noexcept {
    // order: none; the bound saves time, it protects nothing.
    return !lingers_.load(std::memory_order_relaxed) &&
           !lingers_.exchange(true, std::memory_order_relaxed);
  }
  // order: none; see above.
  void end_lingering() noexcept { lingers_.store(false, std::memory_order_relaxed); }

  [[nodiscard]] bool in_child() const noexcept { return process_.in_child(); }

  /// A thread that is not ours, around what it does here after which we might be gone.
  void enter() noexcept { static_cast<void>(outside_.enter()); }
  void leave() noexcept { outside_.leave(); }

  [[gnu::always_inline]] void check_not_forked() const noexcept {
    check(!process_.in_child(),
          "a forked child does not run the tasks of its parent: fork before the runtime starts, or "
          "call exec right after");
  }

  template <typename... Params>
  void tell_hooks(void (hooks::*event)(Params...), Params... params) noexcept {
    if (settings_.hooks == nullptr) return;
    try {
      (settings_.hooks->*event)(params...);
    } catch (...) {
      settings_.log.error("a hook has thrown; ignored");
    }
  }

private:
  explicit core(const config& settings);
  ~core();

  [[nodiscard]] std::optional<start_error> make_workers();
  [[nodiscard]] std::optional<start_error> start_threads();
  void run_worker(std::size_t index) noexcept;
  void end_workers() noexcept;
  [[nodiscard]] std::optional<start_error> choose_cpus();
  [[nodiscard]] std::optional<start_error> pin(std::size_t worker);
  void schedule_from_outside(work& item) noexcept;
  void inject_and_wake(work& item) noexcept;

  [[nodiscard]] task_cell& take_cell(worker* here, const spawn_request& order);
  void give_cell(worker* here, task_cell& cell) noexcept;
  [[nodiscard]] std::uint64_t next_id(worker* here) noexcept;
  [[nodiscard]] std::size_t lane_of(const worker* here) const noexcept;
  [[nodiscard]] executor& home_for(const spawn_request& order) {
    const bool anywhere = order.worker == spawn_request::any_worker && !places();
    return anywhere ? *this : place_task(order);
  }
  [[nodiscard]] executor& place_task(const spawn_request& order);
  [[nodiscard]] static executor& home_of_this_worker(const current_state& here);
  [[nodiscard]] std::size_t ask_dispatcher(const spawn_request& order, std::size_t here);
  [[nodiscard]] std::size_t worker_of_caller() const noexcept;
  void admit(task_cell& cell, worker* here) noexcept;
  void refuse(task_cell& cell) noexcept;
  void report_unhandled(const task_cell& cell) noexcept;
  void throw_if_forked() const {
    if (process_.in_child()) [[unlikely]]
      throw_forked();
  }
  [[noreturn]] void throw_forked() const;

  [[nodiscard]] scope_state& take_scope();
  void give_scope(scope_state& scope) noexcept;
  void start_driving();
  void stop_driving() noexcept;
  void run_roots(scope_state& scope) noexcept;
  bool wait_until(scope_state& scope, bool (*met)(const scope_state&),
                  std::int64_t deadline) noexcept;
  void wait_a_little(scope_state& scope, std::int64_t deadline) noexcept;

  [[nodiscard]] std::vector<task_info> live_tasks();
  /// Throws std::logic_error if a shutdown of this thread is what calls.
  void refuse_within_shutdown(const char* message) const;
  /// Nobody else ends the runtime meanwhile; without the lock if the time was up before.
  [[nodiscard]] std::unique_lock<std::timed_mutex> end_alone(std::int64_t deadline);
  [[nodiscard]] bool may_wait_on(std::int64_t deadline) const noexcept;
  bool wait_for_silence(std::int64_t deadline) noexcept;
  void close_and_stop() noexcept;
  void stop_tasks(const scope_state* only) noexcept;
  void finish_if_abandoned() noexcept;
  bool drive_by(std::int64_t deadline) noexcept;
  void take_down() noexcept;
  void leave_alone() noexcept;
  void let_go() noexcept;

  config settings_;
  const std::string name_;
  const std::string blocking_name_;
  monotonic_clock kernel_clock_;
  std::optional<virtual_clock> virtual_clock_;
  const clock* clock_;
  fork_guard process_;
  driver_info driver_info_;

  std::atomic<std::uint32_t> references_{1};
  std::unique_ptr<fd_table> fds_;  // of the workers' drivers
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<cpu_list> cpus_;  // of each worker; empty: not pinned
  bool children_stay_ = false;  // no dispatcher was given
  inject_queue<std_atomics, short_lock> inject_;
  idle<std_atomics> idle_;
  stall_watch watch_;
  admission<std_atomics> outside_;
  cell_pool cells_;
  blocking_pool pool_;

  std::mutex scopes_mutex_;
  std::vector<std::unique_ptr<scope_state>> scopes_;  // all there are
  std::vector<scope_state*> free_scopes_;
  std::unique_ptr<scope_state> everything_;  // all tasks, whichever scope they are in

  std::atomic<std::uint64_t> next_outside_id_;
  std::atomic<std::uint64_t> cancelled_outside_{0};
  std::atomic<std::uint64_t> wakes_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<bool> over_{false};       // workers end
  std::atomic<bool> lingers_{false};    // a worker does
  std::atomic<bool> driven_{false};     // current_thread: somebody runs the loop
  std::atomic<bool> abandoned_{false};  // nobody waits: the last task to end ends the workers
  std::timed_mutex shutdown_mutex_;
  std::atomic<std::uint32_t> shutdowns_{0};         // callers that are at it, or wait for the mutex
  std::atomic<const void*> shut_down_by_{nullptr};  // the thread's current_state
  bool taken_down_ = false;                         // under the mutex
  std::vector<std::thread> threads_;
};

}  // namespace skua::inline SKUA_ABI
