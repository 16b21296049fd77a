// src/runtime/stall_watch.cpp: set alarms, compare, serve, report.
#include "runtime/stall_watch.hpp"

#include "runtime/core.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"
#include "skua/base/clock.hpp"

#include <execinfo.h>

#include <cstdlib>
#include <string_view>

namespace skua::inline SKUA_ABI {
namespace {

// A runtime's own clock may stand still.
std::int64_t kernel_time() noexcept {
  return monotonic_clock().now();
}

}  // namespace

stall_watch::stall_watch(core& of, std::size_t workers)
    : of_(of),
      active_(workers > 1 && of.settings().rescue),
      post_(workers),
      alarms_(workers),
      records_(workers, record{.since = kernel_time()}) {}

void stall_watch::sleeps(const worker& who) noexcept {
  if (active_) set_alarm(post_.sleeps(who.index));
}

void stall_watch::wakes(const worker& who) noexcept {
  if (active_) set_alarm(post_.wakes(who.index));
}

// One that is set already, and goes off in time, stays: workers may fall asleep all the time.
void stall_watch::set_alarm(std::size_t worker) noexcept {
  if (worker == post_.none) return;
  const std::int64_t now = kernel_time();
  // order: none; numbers that stand for themselves. Who sets an alarm at the same time sets it for
  //        about the same moment.
  const std::int64_t set_for = alarms_[worker].load(std::memory_order_relaxed);
  const std::int64_t wait = interval();
  if (set_for > now && set_for <= now + wait) return;
  // order: none; as above.
  alarms_[worker].store(now + wait, std::memory_order_relaxed);
  of_.worker_at(worker).sleeps_in().set_alarm(wait);
}

bool stall_watch::look(worker& guard) noexcept {
  if (!active_) return false;
  const std::int64_t now = kernel_time();
  // order: none; whoever looks takes the mutex.
  const bool due = now >= next_look_.load(std::memory_order_relaxed);
  if (due && look_at_all(guard, now)) return true;
  set_alarm(post_.alarm_went_off(guard.index));  // also if this one came too early
  return false;
}

// One that waited for the mutex while another looked has nothing to add: where there are many more
// workers than processors, most of those awake have none and seem stuck, each to all the others.
bool stall_watch::look_at_all(worker& guard, std::int64_t now) noexcept {
  const std::lock_guard hold(mutex_);
  // order: none; see look().
  if (now < next_look_.load(std::memory_order_relaxed)) return false;
  bool found = false;
  bool suspicious = false;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (i == guard.index || post_.is_asleep(i)) continue;
    found = look_at(of_.worker_at(i), guard, now) || found;
    suspicious = suspicious || records_[i].since != now;
  }
  // order: none; numbers that stand for themselves.
  suspicious_.store(suspicious, std::memory_order_relaxed);
  // order: none; see look().
  next_look_.store(now + interval(), std::memory_order_relaxed);
  return found;
}

bool stall_watch::look_at(worker& one, worker& guard, std::int64_t now) noexcept {
  record& before = records_[one.index];
  if (const std::uint64_t progress = one.progress(); progress != before.progress) {
    before = {.progress = progress, .since = now, .reported = false};
    return false;
  }
  const std::int64_t length = now - before.since;
  if (length < look_again_after) return false;  // it has just been looked at
  const std::int64_t threshold = of_.settings().stall_threshold;
  if (!before.reported && threshold > 0 && length >= threshold)
    before.reported = report(one, before.progress, length);
  return guard.serve(one);
}

// One frame after the other, innermost first; the ends of the programs' and symbols' names.
std::string stall_watch::stack_of(const worker& stuck) {
  std::string text;
  const auto frames = stack_.of(stuck.thread(), of_.settings().stall_signal);
  char** const names = ::backtrace_symbols(frames.data(), static_cast<int>(frames.size()));
  if (names == nullptr) return text;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string_view name = names[i];
    if (!text.empty()) text += " < ";
    text += name.substr(name.rfind('/') + 1);
  }
  std::free(names);
  return text;
}

// False if it has gone on meanwhile, or is not in a task.
bool stall_watch::report(worker& stuck, std::uint64_t progress, std::int64_t length) noexcept {
  task_cell* const cell = stuck.running();
  if (cell == nullptr || !cell->joined.pin()) return false;
  const bool still = stuck.progress() == progress;
  if (still) {
    // order: none; a number that stands for itself.
    stalls_.fetch_add(1, std::memory_order_relaxed);
    std::string stack;
    try {
      if (of_.settings().stall_signal != 0) stack = stack_of(stuck);
    } catch (...) {  // no memory: then without
    }
    of_.settings().log.warn("a task holds its worker; others serve what waits there",
                            {{"worker", stuck.index},
                             {"milliseconds", length / 1'000'000},
                             {"task", cell->id()},
                             {"name", cell->name()},
                             {"file", std::string_view(cell->where().file_name())},
                             {"line", cell->where().line()},
                             {"stack", std::string_view(stack)}});
  }
  if (cell->joined.unpin()) of_.free_cell(*cell);
  return still;
}

}  // namespace skua::inline SKUA_ABI
