// src/runtime/child_set.cpp: count children, and ask them to stop one by one.
#include "skua/runtime/child_set.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/task_cell.hpp"
#include "skua/base/check.hpp"

namespace skua::inline SKUA_ABI {

child_set::~child_set() {
  check(running_ == 0, "children have ended before who waits for them goes on");
}

void child_set::remove(member& one) noexcept {
  if (one.is_linked()) intrusive_list<member>::remove(one);
  --running_;
}

bool child_set::begin(member& one, context& self) noexcept {
  bool stops = false;
  {
    const short_hold hold(lock_);
    stops = stopping_;
    one.cell_ = current().task;
    (stops ? told_ : live_).push_back(one);
  }
  if (stops) self.request_stop();
  return !stops;
}

// A child's cell is pinned while it is asked, so that it is no other task's meanwhile. Not under
// the lock: whoever is asked may have callbacks that do as they like.
void child_set::stop() noexcept {
  for (;;) {
    task_cell* cell = nullptr;
    {
      const short_hold hold(lock_);
      stopping_ = true;
      member* const next = live_.pop_front();
      if (next == nullptr) return;
      told_.push_back(*next);
      cell = next->cell_;
      check(cell->joined.pin(), "a child that has not ended has a cell");
    }
    cell->request_stop();
    if (cell->joined.unpin()) cell->runtime.free_cell(*cell);
  }
}

}  // namespace skua::inline SKUA_ABI
