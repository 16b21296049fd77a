// src/runtime/shutdown.cpp: how a runtime ends; the steps are those of docs/shutdown.md.
#include "driver/timer_wheel.hpp"
#include "runtime/core.hpp"
#include "runtime/scope_state.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"
#include "skua/base/check.hpp"

#include <chrono>
#include <stdexcept>

namespace skua::inline SKUA_ABI {
namespace {

/// How often a thread looks whether another has stopped driving a current_thread runtime.
constexpr std::int64_t look_for_the_end_every = 1'000'000;

bool is_quiet(const scope_state& scope) {
  return scope.quiet();
}

/// Says which thread is at it.
class thread_mark {
public:
  explicit thread_mark(std::atomic<const void*>& where) noexcept : where_(where) {
    // order: none; read by the thread that writes it.
    where_.store(&current(), std::memory_order_relaxed);
  }
  thread_mark(const thread_mark&) = delete;
  thread_mark& operator=(const thread_mark&) = delete;
  ~thread_mark() {
    // order: none; see above.
    where_.store(nullptr, std::memory_order_relaxed);
  }

private:
  std::atomic<const void*>& where_;
};

/// Whoever drains lets go of the mutex for it.
class shutdown_call {
public:
  shutdown_call(std::atomic<std::uint32_t>& count, scope_state& everything) noexcept
      : count_(count) {
    // order: [drain.yield] release: it is wanted, to who drains; see drain.cpp.
    count_.fetch_add(1, std::memory_order_release);
    everything.signal();
  }
  shutdown_call(const shutdown_call&) = delete;
  shutdown_call& operator=(const shutdown_call&) = delete;
  ~shutdown_call() {
    // order: none; being counted too long is harmless.
    count_.fetch_sub(1, std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint32_t>& count_;
};

}  // namespace

shutdown_report core::shut_down(std::int64_t timeout) {
  if (process_.in_child()) return {};  // the threads are the parent's: there is nothing to end here
  refuse_within_shutdown(
      "skua::runtime::shutdown: called again by what it runs itself, a stop callback perhaps");
  const shutdown_call announced(shutdowns_, *everything_);
  const std::int64_t deadline = timeout == no_deadline ? no_deadline : deadline_after(timeout);
  const std::unique_lock one_at_a_time = end_alone(deadline);
  if (!one_at_a_time.owns_lock()) return {.still_running = live_tasks()};
  const thread_mark until_done(shut_down_by_);
  // order: none; written under the mutex. Those that an earlier call has left alone run still.
  if (taken_down_ && !abandoned_.load(std::memory_order_relaxed)) return {};
  if (taken_down_) return {.still_running = live_tasks()};

  close_and_stop();                                     // steps 1 and 2
  while (!outside_.empty()) std::this_thread::yield();  // whoever was admitted has spawned
  everything_->watch();                                 // step 3
  const bool ended = drive_by(deadline) && wait_until(*everything_, is_quiet, deadline);
  if (ended) {
    everything_->unwatch();
    take_down();  // steps 4 to 6
    stop_driving();
    return {};
  }
  shutdown_report report{.still_running = live_tasks()};
  for (const task_info& one : report.still_running)
    settings_.log.warn("a task did not stop in time; it is left alone",
                       {{"task", one.id},
                        {"name", one.name()},
                        {"file", std::string_view(one.where.file_name())},
                        {"line", one.where.line()}});
  everything_->unwatch();
  leave_alone();
  return report;
}

void core::refuse_within_shutdown(const char* message) const {
  // order: none; only this thread can have written its own address there.
  if (shut_down_by_.load(std::memory_order_relaxed) == &current()) throw std::logic_error(message);
}

// By the runtime's clock, which may not be that of the mutex.
std::unique_lock<std::timed_mutex> core::end_alone(std::int64_t deadline) {
  constexpr std::chrono::milliseconds one_look(1);
  std::unique_lock lock(shutdown_mutex_, std::defer_lock);
  if (deadline == no_deadline) {
    lock.lock();
    return lock;
  }
  while (!lock.try_lock_for(one_look) && now() < deadline) {
  }
  return lock;
}

std::vector<task_info> core::live_tasks() {
  std::vector<task_info> live = tasks();
  std::erase_if(live, [](const task_info& one) { return one.now == task_info::state::ended; });
  return live;
}

// A current_thread runtime needs a thread for its tasks to end on: this one, unless another is at
// it.
bool core::drive_by(std::int64_t deadline) noexcept {
  if (settings_.flavour != flavour::current_thread) return true;
  // order: [runtime.drive] acquire: what the thread did that ran the loop before.
  while (driven_.exchange(true, std::memory_order_acquire)) {
    if (now() >= deadline) return false;
    everything_->sleep(monotonic_clock().now() + look_for_the_end_every);
  }
  return true;
}

void core::close_and_stop() noexcept {
  settings_.log.debug("a runtime accepts nothing more, and asks its tasks to stop",
                      {{"runtime", std::string_view(name_)}});
  everything_->stop_newcomers();  // first: whoever is refused by the next is one of those stopped
  outside_.close();
  stop_tasks(nullptr);
}

void core::stop_tasks(const scope_state* only) noexcept {
  cells_.for_each(
      [only](task_cell& cell) {
        if (only == nullptr || &cell.scope() == only) cell.request_stop();
      },
      [this](task_cell& cell) { free_cell(cell); });
}

void core::take_down() noexcept {
  end_workers();  // substitutes are threads of the pool
  pool_.join();
  for (std::thread& one : threads_) one.join();
  threads_.clear();
  inject_.close();
  check(inject_.size() == 0 && everything_->quiet(), "a runtime ends when all its tasks have");
  taken_down_ = true;
}

void core::abandon() noexcept {
  settings_.log.error(
      "a runtime was destroyed by one of its own tasks, which cannot wait for its end; its tasks "
      "are asked to stop, and it ends when they have",
      {{"runtime", std::string_view(name_)}});
  close_and_stop();
  const std::unique_lock mine(shutdown_mutex_, std::try_to_lock);
  if (mine.owns_lock() && !taken_down_) leave_alone();  // otherwise somebody waits for it
}

// Watched from now on, for ever: the end that finds nobody alive ends the workers.
void core::leave_alone() noexcept {
  for (std::thread& one : threads_) one.detach();
  threads_.clear();
  pool_.leave_alone();
  taken_down_ = true;
  // order: [runtime.abandon] release: the threads are on their own.
  abandoned_.store(true, std::memory_order_release);
  everything_->watch();
  if (everything_->quiet()) let_go();
}

void core::let_go() noexcept {
  while (!outside_.empty()) std::this_thread::yield();  // whoever was admitted has spawned
  if (!everything_->quiet()) return;                    // and we are back when that has ended
  end_workers();
  pool_.close();
}

void core::finish_if_abandoned() noexcept {
  // order: [runtime.abandon] acquire: see leave_alone().
  if (settings_.flavour == flavour::current_thread && abandoned_.load(std::memory_order_acquire))
    wait_until(*everything_, is_quiet, no_deadline);
}

}  // namespace skua::inline SKUA_ABI
