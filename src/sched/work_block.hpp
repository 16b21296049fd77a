// src/sched/work_block.hpp: many items in one, as they wait in the shared queue.
#pragma once

#include "skua/base/check.hpp"
#include "skua/base/work.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace skua::inline SKUA_ABI {

/// Some items, first in, first out, that go through a work_queue as one. Whoever takes them out
/// does not follow links from one to the next, which would be a wait for memory each: they may have
/// been in no cache for long. For one holder at a time. Dies empty.
class work_block final : public work {
public:
  /// Half of a worker's queue, and the one that did not fit.
  static constexpr std::size_t places = 129;

  work_block() noexcept : work(not_to_be_run) {}
  ~work_block() { check(empty(), "a block of work dies empty"); }

  /// True if `item` is a block, and not to be run.
  [[nodiscard]] static bool is(const work& item) noexcept { return item.run == not_to_be_run; }

  [[nodiscard]] bool empty() const noexcept { return first_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - first_; }

  /// Behind its last. What is taken makes no room, until it is empty.
  [[nodiscard]] bool has_room() const noexcept { return end_ < places; }
  /// If it has room.
  void push_back(work& item) noexcept {
    check(has_room(), "a block of work has room for what it is given");
    items_[end_++] = &item;
  }

  /// Moves the oldest to `to`, as many as there is room for; returns how many.
  std::size_t take(std::span<work*> to) noexcept {
    const std::size_t count = std::min(to.size(), size());
    std::copy_n(items_.begin() + first_, count, to.begin());
    first_ += count;
    if (empty()) first_ = end_ = 0;
    return count;
  }

private:
  static void not_to_be_run(work&) noexcept { check(false, "a block of work is not run"); }

  std::size_t first_ = 0;
  std::size_t end_ = 0;
  std::array<work*, places> items_;
};

}  // namespace skua::inline SKUA_ABI
