// src/runtime/core.cpp: start, references, and where work goes.
#include "runtime/core.hpp"

#include "coro/frame_store.hpp"
#include "driver/fault_driver.hpp"
#include "driver/make_drivers.hpp"
#include "driver/process_barrier.hpp"
#include "driver/thread_stack.hpp"
#include "runtime/current.hpp"
#include "runtime/signals.hpp"
#include "runtime/thread_name.hpp"
#include "runtime/worker.hpp"
#include "skua/base/check.hpp"
#include "skua/base/error.hpp"
#include "skua/base/random.hpp"
#include "skua/runtime/dispatch.hpp"

#include <cstdlib>
#include <system_error>

namespace skua::inline SKUA_ABI {

core::core(const config& settings)
    : settings_(settings),
      name_(settings.name),
      blocking_name_(name_ + "-b"),
      clock_(settings.clock != nullptr ? settings.clock : &kernel_clock_),
      idle_(settings.workers),
      watch_(*this, settings.workers),
      cells_(*this),
      pool_(*this, settings.blocking_threads, settings.blocking_keep_alive),
      next_outside_id_(settings.workers + 1) {
  settings_.name = name_;
  children_stay_ = !settings_.dispatcher;
  if (places() && children_stay_) settings_.dispatcher = dispatch::local_first();
  if (settings.virtual_time) clock_ = &virtual_clock_.emplace(kernel_clock_.now());
  static_cast<void>(process_barrier::available());  // registers now, not in the middle of a wait
}

std::optional<start_error> core::make_workers() {
  if (auto failed = choose_cpus()) return failed;
  auto drivers = make_drivers(
      {
          .wanted = settings_.backend,
          .rings = {.submissions = settings_.ring_submissions,
                    .completions = settings_.ring_completions},
          .count = settings_.workers,
          .one_thread_each = places(),
          .time = clock_,
          .pool = &pool_,
      },
      std::getenv("SKUA_BACKEND"));
  if (!drivers)
    return start_error(error_from_errno(drivers.error().error), drivers.error().message);
  driver_info_ = drivers->info;
  fds_ = std::move(drivers->fds);
  if (settings_.faults != nullptr)
    for (std::unique_ptr<driver>& one : drivers->each)
      one = std::make_unique<fault_driver>(std::move(one), *settings_.faults, *clock_);
  settings_.log.write(driver_info_.fell_back ? log_level::info : log_level::debug,
                      "a runtime has chosen its driver",
                      {{"runtime", std::string_view(name_)},
                       {"driver", name_of(driver_info_.used)},
                       {"reason", driver_info_.reason()}});
  if (settings_.stall_signal != 0)
    if (const int error = thread_stack::install(settings_.stall_signal); error != 0)
      return start_error(error_from_errno(error), "the system refused config::stall_signal");
  random_generator random(settings_.seed);
  workers_.reserve(settings_.workers);
  for (std::size_t i = 0; i < settings_.workers; ++i)
    workers_.push_back(
        std::make_unique<worker>(*this, i, std::move(drivers->each[i]), random.split()));
  const bool alone = settings_.flavour == flavour::current_thread;
  everything_ =
      std::make_unique<scope_state>(settings_.workers, alone ? &workers_[0]->sleeps_in() : nullptr);
  return {};
}

core::~core() {
  frame_store::free_all();
}

std::optional<start_error> core::start_threads() {
  threads_.reserve(workers_.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    add_reference();
    try {
      threads_.emplace_back([this, i] { run_worker(i); });
    } catch (const std::system_error& refused) {
      release();
      return start_error(refused.code(),
                         "the system refused worker thread " + std::to_string(i + 1) + " of " +
                             std::to_string(workers_.size()) + ": " + refused.code().message());
    } catch (...) {  // no memory for what the thread is to do
      release();
      throw;
    }
    if (auto failed = pin(i)) return failed;
  }
  return {};
}

void core::run_worker(std::size_t index) noexcept {
  block_sigpipe_in_this_thread();
  name_this_thread(name_, index);
  tell_hooks(&hooks::thread_started, index);
  workers_[index]->run(over_);
  tell_hooks(&hooks::thread_stops, index);
  release();  // the last use
}

void core::end_workers() noexcept {
  // order: [runtime.over] release: everything before the end.
  over_.store(true, std::memory_order_release);
  for (const auto& one : workers_) one->sleeps_in().wake();
}

void core::add_reference() noexcept {
  // order: none; whoever adds one has one.
  references_.fetch_add(1, std::memory_order_relaxed);
}

void core::release() noexcept {
  // order: [core.release] release: all uses. [core.release] acquire: by the last, everybody's.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // A visitor that brought the last task back may still be on its way out.
  while (!outside_.empty()) std::this_thread::yield();
  // Join handles refer to cells: while one is out, the last to come back holds a reference.
  // order: none; nobody else has a reference now, and the pool's mutex orders what follows.
  references_.store(1, std::memory_order_relaxed);
  if (!cells_.close()) delete this;
}

bool core::is_beneath_this_thread() const noexcept {
  for (const current_state* here = &current(); here != nullptr; here = here->outer)
    if (here->runtime == this) return true;
  return false;
}

void core::schedule(work& item) noexcept {
  if (settings_.histograms) [[unlikely]]
    task_cell::note_queued(item, now());
  if (worker* const here = current_in_function().worker_of(*this))
    here->push(item);
  else
    schedule_from_outside(item);
}

void core::defer(work& item) noexcept {
  if (settings_.histograms) [[unlikely]]
    task_cell::note_queued(item, now());
  if (worker* const here = current_in_function().worker_of(*this))
    here->push_last(item);
  else
    schedule_from_outside(item);
}

void core::offload(work& item) noexcept {
  if (pool_.submit(item)) return;
  settings_.log.warn("no thread can be had for a blocking operation; a worker does it");
  schedule(item);
}

// As soon as the item is in the queue the runtime may run it, and end: so we are counted in.
void core::schedule_from_outside(work& item) noexcept {
  if (places()) return workers_[0]->pinned().schedule(item);
  check_not_forked();
  enter();
  inject_and_wake(item);
  leave();
}

// By who is counted in.
void core::inject_and_wake(work& item) noexcept {
  check(inject_.push(item), "a runtime takes work for as long as it has tasks");
  if (settings_.flavour == flavour::current_thread) {
    workers_[0]->sleeps_in().wake();
  } else if (wake_one()) {
    count_wake(nullptr);
  }
}

driver& core::driver_of_this_thread() noexcept {
  const current_state& here = current();
  if (here.as != nullptr) return here.as->sleeps_in();
  if (here.lost != nullptr) return here.lost->sleeps_in();
  return workers_[0]->sleeps_in();
}

void core::call_has_ended() noexcept {
  if (virtual_clock_) workers_[0]->sleeps_in().wake();
}

void core::count_wake(worker* by) noexcept {
  if (by != nullptr)
    by->count_wake();
  else
    // order: none; a number that stands for itself.
    wakes_.fetch_add(1, std::memory_order_relaxed);
}

bool core::wake_one() noexcept {
  const std::size_t whom = idle_.worker_to_wake();
  if (whom == idle_.none) return false;
  workers_[whom]->sleeps_in().wake();
  return true;
}

}  // namespace skua::inline SKUA_ABI
