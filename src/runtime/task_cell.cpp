// src/runtime/task_cell.cpp: run a task, and bring it to its end.
#include "runtime/task_cell.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/scope_state.hpp"
#include "runtime/worker.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/recycler.hpp"
#include "skua/coro/task_cancelled.hpp"

namespace skua::inline SKUA_ABI {

task_cell::task_cell(core& of)
    : context(of.settings().histograms ? run_measured : run, of), runtime(of) {}

void task_cell::reserve(const result_operations& result) {
  result_ = result.size <= inline_result ? inline_.data() : allocate_frame(result.size);
  operations_ = &result;
}

void task_cell::fill(const spawn_request& order, std::uint64_t id, scope_state& within,
                     executor& home, bool is_root) noexcept {
  where_ = order.where;
  name_length_ = static_cast<std::uint8_t>(order.name.copy(name_.data(), name_max));
  id_ = id;
  scope_ = &within;
  is_root_ = is_root;
  reuse(home);
  hold(order.root);
}

void task_cell::cancel_unrun() noexcept {
  request_stop();
  check(drive() == progress::stopped, "a task that is stopped before it starts never runs");
  set_stopped();
}

void task_cell::clear() noexcept {
  if (has_result_) operations_->destroy(result_);
  has_result_ = false;
  if (result_ != inline_.data()) free_frame(result_, operations_->size);
}

void task_cell::run(work& item) noexcept {
  auto& self = static_cast<task_cell&>(item);
  current_state& here = current();
  here.task = &self;
  self.in_turn = here.as;
  if (here.as != nullptr) here.as->set_running(self);
  if (const progress how = self.drive(); how != progress::parked) self.finish(how);
  // Asked anew: though the thread is the same, the compiler need not know.
  current().end_turn();
}

void task_cell::run_measured(work& item) noexcept {
  auto& self = static_cast<task_cell&>(item);
  worker* const on = current().as;
  const std::int64_t began = self.runtime.now();
  if (on != nullptr) on->note_latency(began - self.queued_at_);
  current().task = &self;
  self.in_turn = on;
  if (on != nullptr) on->set_running(self);
  core& home = self.runtime;  // the cell may be gone afterwards
  const progress how = self.drive();
  // If it was lent away, somebody else may be writing there.
  if (on != nullptr && current().as == on) on->note_run_time(home.now() - began);
  if (how != progress::parked) self.finish(how);
  current().end_turn();
}

void task_cell::set_stopped() noexcept {
  operations_->set_stopped(result_);
  failed_ = false;
  has_result_ = true;
}

progress task_cell::take_result(progress how) noexcept {
  if (how == progress::stopped) {
    set_stopped();
    return how;
  }
  const frame_handle root = release_root();
  failed_ = operations_->take(root, result_);
  has_result_ = true;
  root.destroy();
  if (!failed_ || !stopped_by_another()) [[likely]]
    return progress::returned;
  operations_->destroy(result_);
  set_stopped();
  return progress::stopped;
}

// Where many tasks are stopped at once, one that waits for another may hear of it from that other's
// end, before the stop comes to itself. Which comes first must not decide how it ended.
bool task_cell::stopped_by_another() const noexcept {
  if (!stop_requested() && !scope_->stops_newcomers() && !runtime.stops_everything()) return false;
  try {
    std::rethrow_exception(exception());
  } catch (const task_cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

// In this order: the frames are gone before anybody is told; whoever is told may free the cell; and
// when the end is counted, the runtime may be taken down, for all that this task has to do with it.
void task_cell::finish(progress driven) noexcept {
  const progress how = take_result(driven);
  core& home = runtime;
  scope_state& within = *scope_;
  home.tell_hooks(&hooks::task_ended, id_);
  worker* here = home.this_worker();
  if (how == progress::stopped) home.count_cancelled(here);
  home.count_departure(here);
  const bool roots = is_root_;
  const bool failed = how == progress::stopped || failed_;

  switch (joined.end()) {
    case join_word<std_atomics>::end_answer::kept:
      break;
    case join_word<std_atomics>::end_answer::wake_joiner:
      joiner->complete();
      break;
    case join_word<std_atomics>::end_answer::free:
      home.free_cell(*this);
      here = home.this_worker();
      break;
  }
  if (roots) within.root_ended(failed);
  home.count_end(here, within);
}

}  // namespace skua::inline SKUA_ABI
