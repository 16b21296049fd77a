// src/runtime/home_queue.cpp: a list under a mutex; few tasks are pinned, and rarely.
#include "runtime/home_queue.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/worker.hpp"

namespace skua::inline SKUA_ABI {

void home_queue::schedule(work& item) noexcept {
  core& runtime = of_.runtime;
  if (runtime.settings().histograms) [[unlikely]]
    task_cell::note_queued(item, runtime.now());
  const bool at_home = current().as == &of_ && of_.at_home();
  // Counted as a visitor: as soon as the item is in the queue, the runtime may run it and end.
  if (!at_home) runtime.enter();
  {
    const std::lock_guard hold(mutex_);
    items_.push_back(item);
    // order: none; see empty().
    length_.store(items_.size(), std::memory_order_relaxed);
  }
  if (at_home) return;
  of_.sleeps_in().wake();
  runtime.leave();
}

void home_queue::defer(work& item) noexcept {
  if (current().as == &of_) of_.count_yield();
  schedule(item);
}

void home_queue::offload(work& item) noexcept {
  of_.runtime.offload(item);
}

work* home_queue::pop() noexcept {
  if (empty()) return nullptr;
  const std::lock_guard hold(mutex_);
  work* const first = items_.pop_front();
  // order: none; see empty().
  length_.store(items_.size(), std::memory_order_relaxed);
  return first;
}

}  // namespace skua::inline SKUA_ABI
