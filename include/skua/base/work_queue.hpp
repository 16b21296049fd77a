// skua/base/work_queue.hpp: a first-in first-out queue of work, linked through work::next.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/base/work.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI {

/// For one holder at a time: no locks, no allocation, every call O(1). Dies empty.
///
/// Items enter and leave unlinked, and entering is checked. The check sees an item that is queued
/// anywhere with another behind it, and one that is last in this queue; it cannot see one that is
/// last in another queue, whose `next` is null too.
class work_queue {
public:
  work_queue() = default;

  /// Takes every item of `from`, which is left empty.
  work_queue(work_queue&& from) noexcept { append(from); }

  work_queue& operator=(work_queue&&) = delete;
  ~work_queue() { check(empty(), "a work queue dies empty"); }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// The oldest item; null if there is none.
  [[nodiscard]] work* front() const noexcept { return first_; }

  void push_back(work& item) noexcept {
    check_unlinked(item);
    (empty() ? first_ : last_->next) = &item;
    last_ = &item;
    ++size_;
  }

  void push_front(work& item) noexcept {
    check_unlinked(item);
    if (empty()) last_ = &item;
    item.next = first_;
    first_ = &item;
    ++size_;
  }

  /// Removes and returns the oldest item, unlinked; null if there is none.
  [[nodiscard]] work* pop_front() noexcept {
    work* const item = first_;
    if (item == nullptr) return nullptr;
    first_ = item->next;
    item->next = nullptr;
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return item;
  }

  /// Moves every item of `from`, in order, behind our last. `from` is left empty.
  void append(work_queue& from) noexcept {
    check(&from != this, "a work queue is appended to another one");
    if (from.empty()) return;
    (empty() ? first_ : last_->next) = from.first_;
    last_ = from.last_;
    size_ += from.size_;
    from.first_ = from.last_ = nullptr;
    from.size_ = 0;
  }

private:
  void check_unlinked(const work& item) const noexcept {
    check(item.next == nullptr && &item != last_, "an item enters a work queue unlinked");
  }

  work* first_ = nullptr;
  work* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace skua::inline SKUA_ABI
