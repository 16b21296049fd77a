// src/runtime/task_cell.cpp: run a task, and bring it to its end.
#include "runtime/task_cell.hpp"

#include "coro/drive_turn.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/scope_state.hpp"
#include "runtime/worker.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/recycler.hpp"
#include "skua/coro/task_cancelled.hpp"

#include <new>

namespace skua::inline SKUA_ABI {

task_cell::task_cell(core& of)
    : context(of.settings().histograms ? run_measured : run, of), runtime(of) {}

void task_cell::rarities::keep_name(std::string_view given) noexcept {
  name_length = static_cast<std::uint8_t>(given.copy(name.data(), name_max));
}

// After the result's size is known; it is none of those that are usual.
[[gnu::noinline]] void task_cell::reserve_elsewhere(const spawn_request& order) {
  if (!is_inline(*order.result)) elsewhere() = allocate_frame(order.result->size);
  if (order.name.empty() && work::run == run) return;
  try {
    extra_ = ::new (allocate_frame(sizeof(rarities))) rarities;
  } catch (...) {
    if (!is_inline(*operations_)) free_frame(elsewhere(), operations_->size);
    throw;
  }
}

void task_cell::fill(const spawn_request& order, std::uint64_t id, scope_state& within,
                     executor& home, bool is_root) noexcept {
  where_ = order.where;
  if (extra_ != nullptr) [[unlikely]]
    extra_->keep_name(order.name);
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
  if (has_result_) operations_->destroy(result());
  has_result_ = false;
  if (!is_inline(*operations_)) [[unlikely]]
    free_frame(elsewhere(), operations_->size);
  if (extra_ != nullptr) [[unlikely]]
    free_rarities();
}

[[gnu::noinline]] void task_cell::free_rarities() noexcept {
  free_frame(extra_, sizeof(rarities));
  extra_ = nullptr;
}

// All cells first, and then the frames, whose addresses are in them: so there is one long wait for
// memory, and not two for each.
[[gnu::noinline]] void task_cell::fetch(std::span<work* const> items) noexcept {
  constexpr std::size_t of_frame = 4 * cache_line;
  const auto fetch_bytes = [](const void* from, std::size_t size) {
    for (std::size_t i = 0; i < size; i += cache_line)
      __builtin_prefetch(static_cast<const std::byte*>(from) + i, 1);
  };
  for (const work* const item : items) fetch_bytes(item, sizeof(task_cell));
  for (work* const item : items)
    if (item->run == run)
      fetch_bytes(static_cast<task_cell*>(item)->resume_point.address(), of_frame);
}

// Half of every turn.
void task_cell::run(work& item) noexcept {
  auto& self = static_cast<task_cell&>(item);
  current_state& here = current_in_function();
  here.task = &self;
  self.in_turn = here.as;
  if (here.as != nullptr) here.as->set_running(self);
  const progress how = self.drive_turn();
  if (how == progress::gives_way)
    self.give_way(here);
  else if (how != progress::parked)
    self.finish(how);
  here.end_turn();
}

// Instead of parking, a turn of the loop, and being woken: all that the awaiting task has to do is
// what this one does. Not for a branch, which is not all of its task, and not for one that is to
// stop: it would not wait; nor where turns are measured, each by itself; nor beneath a no_await:
// that it waits is to be reported. It counts as something that was ready at once, so that both
// together do no more in a turn than one alone.
bool task_cell::run_in_turn_of(const context_base& awaiting) noexcept {
  current_state& here = current_in_function();
  worker* const on = here.as;
  task_cell* const below = here.task;
  if (on == nullptr || below != &awaiting || on->budget == 0 || here.beneath == most_beneath ||
      work::run != run || here.no_awaits != 0 || below->stop_requested() ||
      &on->runtime != &runtime)
    return false;
  const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here.beneath == 0) here.bottom = at;
  if (here.bottom - at > most_stack || !on->take_back(*this)) return false;
  work* const offered = on->what_was_offered();
  --on->budget;
  ++here.beneath;
  task_cell* const outer = std::exchange(here.awaited, this);
  run(*this);
  const bool ended = std::exchange(here.awaited, outer) == nullptr;
  runtime.check_not_forked();  // as after every turn
  check(!joined.is_free(), "a handle is not dropped while it joins");
  --here.beneath;
  here.task = below;
  if (here.as == on) [[likely]] {
    on->set_running(*below);
    if (offered != nullptr) [[unlikely]]
      on->withdraw_offer(*offered);
  } else {
    below->in_turn = &here.used_up;  // it has blocked, and the worker has gone on without us
  }
  return ended || joined.done();
}

void task_cell::tell_end() noexcept {
  if (!end_untold_) return;
  end_untold_ = false;
  check(joined.end() == join_word<std_atomics>::end_answer::kept, "its handle is held");
}

// From here on another thread may run it. If its thread is still the worker that the turn began on,
// that is one of its runtime's.
void task_cell::give_way(const current_state& thread) noexcept {
  if (thread.as != nullptr && thread.as == in_turn && &home() == &runtime) [[likely]]
    thread.as->push_last(*this);
  else
    home().defer(*this);
}

void task_cell::run_measured(work& item) noexcept {
  auto& self = static_cast<task_cell&>(item);
  current_state& here = current_in_function();
  worker* const on = here.as;
  const std::int64_t began = self.runtime.now();
  if (on != nullptr) on->note_latency(began - self.extra_->queued_at);
  here.task = &self;
  self.in_turn = on;
  if (on != nullptr) on->set_running(self);
  core& home = self.runtime;  // the cell may be gone afterwards
  const progress how = self.drive();
  // If it was lent away, somebody else may be writing there.
  if (on != nullptr && here.as == on) on->note_run_time(home.now() - began);
  if (how != progress::parked) self.finish(how);
  here.end_turn();
}

void task_cell::set_stopped() noexcept {
  operations_->set_stopped(result());
  failed_ = false;
  has_result_ = true;
}

progress task_cell::take_result(progress how) noexcept {
  if (how == progress::stopped) {
    set_stopped();
    return how;
  }
  const frame_handle root = release_root();
  failed_ = operations_->take(root, result());
  has_result_ = true;
  root.destroy();
  if (!failed_ || !stopped_by_another()) [[likely]]
    return progress::returned;
  operations_->destroy(result());
  set_stopped();
  return progress::stopped;
}

// Where many tasks are stopped at once, one that waits for another may hear of it from that other's
// end, before the stop comes to itself. Which comes first must not decide how it ended.
[[gnu::noinline]] bool task_cell::stopped_by_another() const noexcept {
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
// Who awaits it here is told at last: that is another task of the runtime, which is not over yet.
[[gnu::noinline, gnu::flatten]] void task_cell::finish(progress driven) noexcept {
  current_state& thread = current_in_function();
  const progress how = take_result(driven);
  core& home = runtime;
  scope_state& within = *scope_;
  home.tell_hooks(&hooks::task_ended, id_);
  worker* here = thread.worker_of(home);
  if (how == progress::stopped) home.count_cancelled(here);
  home.count_departure(here);
  const bool roots = is_root_;
  const bool failed = how == progress::stopped || failed_;

  if (thread.awaited == this) {
    thread.awaited = nullptr;
    end_untold_ = true;
    return home.count_end(here, within);
  }
  switch (joined.end()) {
    case join_word<std_atomics>::end_answer::kept:
      break;
    case join_word<std_atomics>::end_answer::wake_joiner:
      joiner->complete();
      break;
    case join_word<std_atomics>::end_answer::free:
      home.free_cell(*this);
      here = thread.worker_of(home);
      break;
  }
  if (roots) within.root_ended(failed);
  home.count_end(here, within);
}

}  // namespace skua::inline SKUA_ABI
