// src/runtime/share.cpp: what a worker gives to the shared queue, and what it takes from it.
#include "runtime/core.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace skua::inline SKUA_ABI {

// The own queue is empty: a share of the shared one.
[[gnu::noinline]] work* worker::next_injected() noexcept {
  auto& shared = runtime.inject();
  const std::size_t waiting = shared.size();
  if (waiting == 0) return nullptr;
  const std::size_t share = (waiting / runtime.worker_count()) + 1;
  std::array<work*, inject_batch> batch;
  const std::span<work*> got = std::span(batch).first(
      shared.pop_batch(std::span(batch).first(std::min(share, inject_batch))));
  if (got.empty()) return nullptr;
  counters_.injected.add(got.size());
  if (got.size() == 1) return got.front();
  task_cell::fetch(got);
  queue_last(got.subspan(1));
  // While they were in no queue a worker may have looked everywhere, seen nothing and gone to
  // sleep.
  if (!alone_) wake_another();
  return got.front();
}

void worker::queue_last(std::span<work* const> items) noexcept {
  const std::size_t queued = alone_ ? 0 : queue_.push_some(items);
  for (work* const item : items.subspan(queued)) queue_last(*item);
}

// The own queue is full: half of it, and `item`, are for everybody.
void worker::share_some(work& item) noexcept {
  static_assert(decltype(queue_)::capacity / 2 + 1 <= work_block::places);
  work_block* const block = runtime.inject().take_block();
  if (block == nullptr) {
    work_queue overflow;
    queue_.push(item, overflow);
    if (!overflow.empty()) share_overflow(overflow);
    return;
  }
  queue_.push(item, *block);
  const bool any = !block->empty();  // one alone if a thief was about to make room
  runtime.inject().push_block(*block);
  if (any) overflowed();
}

void worker::share_overflow(work_queue& overflow) noexcept {
  runtime.inject().push_batch(overflow);
  overflowed();
}

// See next_injected(). What a driver hands over is shared afterwards: this worker may still count
// as asleep, and would wake itself.
void worker::overflowed() noexcept {
  counters_.overflows.add();
  if (!handed_over_to_) wake_another();
}

}  // namespace skua::inline SKUA_ABI
