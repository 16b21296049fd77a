// src/runtime/take_back.cpp: whether a task that is awaited is at hand, and may run at once.
#include "runtime/core.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"
#include "skua/base/check.hpp"

namespace skua::inline SKUA_ABI {

bool worker::take_back(task_cell& item) noexcept {
  // What is due comes first: events, the shared queue, tasks at home.
  if (static_cast<std::int32_t>(given_ - budget) >= events_in_ ||
      tick_ - looked_at_inject_ >= inject_interval_ || !pinned_.empty())
    return false;
  if (!(slot_.holds(item) ? take_from_slot() : take_next(item))) return false;
  if (!slot_.empty() && !sole_ && runtime.idle_workers().some_lack_work()) offer_what_was_next();
  // By a load, since the turn goes on: what it overlooks is found when the turn is over.
  if (unusual_.added_unseen && runtime.idle_workers().may_wake()) share_what_is_left();
  ++tick_;
  counters_.polls.add();
  return true;
}

// It would have had its turn while the awaiting task waits. It has to wait now for what may take
// long, and those who look for work do not look into a slot.
[[gnu::noinline]] void worker::offer_what_was_next() noexcept {
  work* const next = slot_.take();
  if (next == nullptr) return;  // rescued
  queue_next(*next);
  offer_to_sleepers();
  if (newest_ == nullptr) offered_ = next;  // else it is the newest, and next as before
}

// Nobody took it: it is next again. If it was taken, and something else was made in its place and
// queued here, then that is.
void worker::withdraw_offer(work& item) noexcept {
  if (!slot_.empty() || !queue_.take_newest(item)) return;
  check(slot_.put(item) == nullptr, "only the owner fills a slot");
}

// However often the slot was first lately: this is no turn before others', but a part of the turn
// of the one that awaits, and its budget pays for it.
bool worker::take_from_slot() noexcept {
  if ((sole_ ? slot_.take_unshared() : slot_.take()) == nullptr) return false;
  counters_.lifo_hits.add();
  return true;
}

bool worker::take_next(task_cell& item) noexcept {
  if (newest_ != nullptr) return newest_->take_newest(item);
  if (!alone_) return take_unstarted(item) || queue_.take_oldest(item);
  return ready_.front() == &item && next_alone() != nullptr;
}

// The newest, which most often the one that awaits it has spawned. Not one that has given way: that
// is behind the others on purpose, and goes back there.
bool worker::take_unstarted(task_cell& item) noexcept {
  if (!queue_.take_newest(item)) return false;
  if (item.now == phase::held) [[likely]]
    return true;
  queue_last(item);
  return false;
}

}  // namespace skua::inline SKUA_ABI
