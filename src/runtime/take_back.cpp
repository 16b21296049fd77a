// src/runtime/take_back.cpp: whether a task that is awaited would be next, and may run at once.
#include "runtime/core.hpp"
#include "runtime/worker.hpp"

namespace skua::inline SKUA_ABI {

bool worker::take_back(const work& item) noexcept {
  // What is due comes first: events, the shared queue, tasks at home.
  if (static_cast<std::int32_t>(given_ - budget) >= events_in_ ||
      tick_ - looked_at_inject_ >= inject_interval_ || !pinned_.empty())
    return false;
  if (!(slot_.holds(item) ? take_from_slot() : take_next(item))) return false;
  if (unusual_.added_unseen) share_what_is_left();
  ++tick_;
  counters_.polls.add();
  return true;
}

// The slot's item; not if it has come often enough, and others are in line.
bool worker::take_from_slot() noexcept {
  if (lifo_streak_ >= lifo_in_a_row && queue_.size() > 0) return false;
  if ((sole_ ? slot_.take_unshared() : slot_.take()) == nullptr) return false;
  ++lifo_streak_;
  counters_.lifo_hits.add();
  return true;
}

bool worker::take_next(const work& item) noexcept {
  if (newest_ != nullptr) return newest_->take_newest(item);
  if (!alone_) return queue_.take_oldest(item);
  return ready_.front() == &item && next_alone() != nullptr;
}

}  // namespace skua::inline SKUA_ABI
