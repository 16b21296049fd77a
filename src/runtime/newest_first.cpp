// src/runtime/newest_first.cpp: which task is next with order::lifo, and which is stolen.
#include "runtime/core.hpp"
#include "runtime/worker.hpp"

namespace skua::inline SKUA_ABI {

// The slot is the newest of all. As with order::fifo it comes at most 3 times in a row, so that two
// that wake each other do not keep the others out.
work* worker::next_newest_first() noexcept {
  if (tick_ - looked_at_line_ >= runtime.settings().event_interval) [[unlikely]]
    if (work* const item = next_in_line()) return item;
  work* const next = sole_ ? slot_.take_unshared() : slot_.take();
  if (next != nullptr && lifo_streak_ < lifo_in_a_row) {
    ++lifo_streak_;
    from_slot_ = true;
    counters_.lifo_hits.add();
    return next;
  }
  lifo_streak_ = 0;
  work* other = newest_->pop();
  if (other == nullptr) other = queue_.pop();
  if (other == nullptr) return next;
  if (next != nullptr) queue_first(*next);
  return other;
}

// Now and then what is in line, and seldom the oldest of the others, or tasks that spawn and wake
// others for ever would leave them no turn. Seldom: the oldest in a tree of tasks is its largest
// part, and with each part that is begun before another has ended more is alive at once.
[[gnu::noinline]] work* worker::next_in_line() noexcept {
  looked_at_line_ = tick_;
  if (tick_ - looked_at_oldest_ >= look_at_oldest_every * inject_interval_) {
    looked_at_oldest_ = tick_;
    if (work* const oldest = newest_->steal()) return oldest;
  }
  return queue_.pop();
}

void worker::queue_first(work& item) noexcept {
  work_queue overflow;
  newest_->push(item, overflow);
  if (!overflow.empty()) share_overflow(overflow);
}

// Of a deque the oldest item, of a queue half.
work* worker::steal_from(worker& other) noexcept {
  const std::size_t before = queue_.size();
  work* item = other.newest_ == nullptr ? nullptr : other.newest_->steal();
  if (item == nullptr) item = other.queue_.steal_into(queue_);
  if (item == nullptr) return nullptr;
  counters_.steals.add();
  counters_.items_stolen.add(queue_.size() - before + 1);
  return item;
}

}  // namespace skua::inline SKUA_ABI
