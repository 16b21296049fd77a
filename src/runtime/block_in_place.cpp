// src/runtime/block_in_place.cpp: step out of the worker, and back.
#include "skua/runtime/block_in_place.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"
#include "skua/base/check.hpp"

#include <stdexcept>

namespace skua::inline SKUA_ABI {

namespace {

void set_turn(turn* now) noexcept {
  const current_state& here = current();
  if (here.chain != nullptr)
    here.chain->in_turn = now;
  else if (here.task != nullptr)
    here.task->in_turn = now;
}

}  // namespace

blocking_section::blocking_section() : left_(current().as), thread_(&current()) {
  if (left_ == nullptr) return;
  if (left_->runtime.settings().flavour == flavour::current_thread)
    throw std::logic_error(
        "skua::block_in_place: a current_thread runtime has no other thread for its tasks; use "
        "spawn_blocking");
  if (left_->runtime.settings().flavour == flavour::thread_per_core)
    throw std::logic_error(
        "skua::block_in_place: the tasks of a thread_per_core runtime stay on their thread, and "
        "would all wait; use spawn_blocking");
  if (!left_->lend()) {
    left_ = nullptr;
    return;
  }
  set_turn(nullptr);
}

blocking_section::~blocking_section() {
  if (left_ == nullptr) return;
  check(thread_ == &current() && current().as == nullptr,
        "a blocking_section ends where it began: nothing is awaited inside");
  turn* next = left_;
  if (!left_->reclaim()) {
    current().lost = left_;
    next = &current().used_up;
  }
  set_turn(next);
}

}  // namespace skua::inline SKUA_ABI
