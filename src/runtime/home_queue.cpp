// src/runtime/home_queue.cpp: a plain list at home, an inbox for everybody else.
#include "runtime/home_queue.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/worker.hpp"

namespace skua::inline SKUA_ABI {

void home_queue::schedule(work& item) noexcept {
  core& runtime = of_.runtime;
  if (runtime.settings().histograms) [[unlikely]]
    task_cell::note_queued(item, runtime.now());
  const current_state& here = current();
  if (here.as == &of_ && of_.at_home()) return push_here(item);
  runtime.check_not_forked();
  // As soon as the item is in the inbox the runtime may run it, and end. It waits for its workers
  // then; who is none of them counts as a visitor.
  worker* const by = here.runtime == &runtime ? here.as : nullptr;
  if (by == nullptr) runtime.enter();
  if (from_elsewhere_.push(item) && of_.sleeps_in().wake()) runtime.count_wake(by);
  if (by == nullptr) runtime.leave();
}

void home_queue::defer(work& item) noexcept {
  if (current().as == &of_) of_.count_yield();
  schedule(item);
}

void home_queue::offload(work& item) noexcept {
  of_.runtime.offload(item);
}

void home_queue::take_in() noexcept {
  of_.count_injected(from_elsewhere_.take_all(here_));
}

void home_queue::count_newcomer(const worker* by) noexcept {
  if (by == &of_)
    spawned_here_.add();
  else
    // order: none; a number that stands for itself.
    spawned_elsewhere_.fetch_add(1, std::memory_order_relaxed);
}

std::size_t home_queue::tasks() const noexcept {
  const std::uint64_t gone = ended_.read();  // first: never more than have come
  // order: none; a number that stands for itself.
  const std::uint64_t come =
      spawned_here_.read() + spawned_elsewhere_.load(std::memory_order_relaxed);
  return come > gone ? static_cast<std::size_t>(come - gone) : 0;
}

}  // namespace skua::inline SKUA_ABI
