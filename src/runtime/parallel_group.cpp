// src/runtime/parallel_group.cpp: start the chains, stop them, tell the task when all have ended.
#include "skua/runtime/parallel_group.hpp"

#include "runtime/current.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"

namespace skua::inline SKUA_ABI {
namespace {

/// Of a branch, too, the place where its task is queued: in the branch's own only one could run.
executor& where_the_task_runs(context& of) noexcept {
  task_cell* const cell = current().task;
  return cell != nullptr ? cell->home() : of.home();
}

}  // namespace

// --- a chain

parallel_chain::parallel_chain(parallel_group& of, frame_handle root) noexcept
    : side_chain(run, of.where_, root), of_(of) {}

context& parallel_chain::task() const noexcept {
  return of_.root_;
}

// It runs in its own turns, and for everybody else as its task.
void parallel_chain::run(work& item) noexcept {
  auto& self = static_cast<parallel_chain&>(item);
  current_state& here = current();
  here.task = self.of_.cell_;
  here.chain = &self;
  self.in_turn = here.as;
  if (here.as != nullptr && here.task != nullptr) here.as->set_running(*here.task);
  if (self.has_ended(self.drive())) self.of_.ended(self);
  current().end_turn();
  current().chain = nullptr;
}

// --- the group

parallel_group::parallel_group(context& of) noexcept
    : root_(of), where_(where_the_task_runs(of)), cell_(current().task), run_(*this) {}

// The last one to end is the last to touch this: the task goes on, and may be gone.
void parallel_group::ended(parallel_chain& one) noexcept {
  if (one.failed()) {
    parallel_chain* none = nullptr;
    // order: none; the task reads it after the count, and the stop needs nothing of it.
    if (first_failed_.compare_exchange_strong(none, &one, std::memory_order_relaxed)) stop_all();
  }
  // order: [parallel.left] release: all that the chain did. [parallel.left] acquire: by the last,
  //        what the others did, to pass it on to the task.
  if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) run_.complete();
}

void parallel_group::stop_all() noexcept {
  for (parallel_chain* const one : chains_) one->request_stop();
}

bool parallel_group::is_stopped() const noexcept {
  // order: none; all chains have ended.
  const parallel_chain* const first = first_failed_.load(std::memory_order_relaxed);
  return first != nullptr && first->exception() == nullptr && root_.stop_requested();
}

void parallel_group::rethrow() const {
  // order: none; all chains have ended.
  const parallel_chain* const first = first_failed_.load(std::memory_order_relaxed);
  if (first != nullptr) throw_missing_value(first->exception());
}

// All but the last are queued for others to take: when the last is, all may have run already.
void parallel_group::run_wait::start() noexcept {
  const std::span<parallel_chain* const> chains = of_.chains_;
  if (chains.empty()) return complete();
  // order: none; scheduling orders it.
  of_.left_.store(chains.size(), std::memory_order_relaxed);
  if (of_.root_.stop_requested()) of_.stop_all();  // none begins
  for (parallel_chain* const one : chains) one->schedule();
}

cancel_answer parallel_group::run_wait::cancel() noexcept {
  of_.stop_all();
  return cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
