// src/runtime/spawn.cpp: how a task comes to life.
#include "skua/runtime/spawn.hpp"

#include "driver/process_barrier.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/scope_state.hpp"
#include "runtime/task_cell.hpp"
#include "runtime/worker.hpp"

#include <stdexcept>
#include <string>

namespace skua::inline SKUA_ABI {
namespace {

/// Of a thread that runs a task or call of a runtime. In functions that are not inlined: a fiber
/// may be on another thread the next time.
const current_state& inside() {
  const current_state& here = current_in_function();
  if (here.runtime == nullptr)
    throw std::logic_error(
        "skua::spawn: this thread runs no task of a runtime; use runtime::spawn or a "
        "runtime_handle");
  return here;
}

/// Counts the calling thread in while it lives.
class visit {
public:
  explicit visit(admission<std_atomics>& door) noexcept : door_(door), admitted(door.enter()) {}
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit() { door_.leave(); }

private:
  admission<std_atomics>& door_;

public:
  const bool admitted;
};

}  // namespace

[[gnu::noinline]] task_cell* spawn_here::as_child(const spawn_request& what) {
  const current_state& here = inside();
  return here.runtime->spawn_inside(here, what, false, core::place::anywhere);
}

[[gnu::noinline]] task_cell* spawn_here::as_child_if_room(const spawn_request& what) {
  const current_state& here = inside();
  if (!here.runtime->has_room()) return nullptr;
  return here.runtime->spawn_inside(here, what, false, core::place::anywhere);
}

[[gnu::noinline]] task_cell* spawn_here::in_background(const spawn_request& what) {
  const current_state& here = inside();
  return here.runtime->spawn_inside(here, what, true, core::place::anywhere);
}

[[gnu::noinline]] task_cell* spawn_here::on_this_worker(const spawn_request& what) {
  const current_state& here = inside();
  return here.runtime->spawn_inside(here, what, false, core::place::this_worker);
}

// What it calls is inlined, but for what is rare.
[[gnu::flatten]] task_cell* core::spawn_inside(const current_state& here,
                                               const spawn_request& order, bool background,
                                               place where) {
  throw_if_forked();
  worker* const as = here.as;  // read once: it stays, whatever is called below
  executor& home = where == place::this_worker ? home_of_this_worker(here) : home_for(order);
  scope_state& within = background || here.task == nullptr ? *everything_ : here.task->scope();
  task_cell& cell = take_cell(as, order);
  cell.fill(order, next_id(as), within, home, false);
  admit(cell, as);
  if (&home == this && as != nullptr && !settings_.histograms) [[likely]]
    as->push(cell);
  else
    cell.schedule();
  return &cell;
}

[[gnu::noinline]] executor& core::home_of_this_worker(const current_state& here) {
  worker* const whose = here.as != nullptr ? here.as : here.lost;
  if (whose == nullptr)
    throw std::logic_error("skua::spawn_local: this thread is no worker now (a blocking call?)");
  return whose->pinned();
}

task_cell* core::spawn_from_outside(const spawn_request& order) {
  if (is_current()) return spawn_inside(current(), order, true, place::anywhere);
  throw_if_forked();
  task_cell* cell = nullptr;
  {
    const visit inside(outside_);
    executor& home = home_for(order);
    cell = &take_cell(nullptr, order);
    cell->fill(order, next_id(nullptr), *everything_, home, false);
    if (inside.admitted) {
      admit(*cell, nullptr);
      if (&home == this && !settings_.histograms) [[likely]]
        inject_and_wake(*cell);
      else
        cell->schedule();
      return cell;
    }
  }
  refuse(*cell);  // not as a visitor: it may own the runtime object, which waits until they left
  return cell;
}

task_cell& core::take_cell(worker* here, const spawn_request& order) {
  task_cell& cell = here != nullptr ? here->take_cell() : cells_.take();
  try {
    cell.reserve(order);
  } catch (...) {
    give_cell(here, cell);
    throw;
  }
  return cell;
}

void core::give_cell(worker* here, task_cell& cell) noexcept {
  if (here != nullptr)
    here->give_cell(cell);
  else if (cells_.give(cell))
    release();
}

std::uint64_t core::next_id(worker* here) noexcept {
  if (here != nullptr) return here->next_id();
  // order: none; only to be unique.
  return next_outside_id_.fetch_add(workers_.size() + 1, std::memory_order_relaxed);
}

std::size_t core::lane_of(const worker* here) const noexcept {
  return here != nullptr ? here->index : workers_.size();
}

// Counted first, so that nobody sees silence; then visible to those who stop everything; then looks
// whether they came before. Either they see the task or it sees them (process_barrier). The caller
// queues it.
void core::admit(task_cell& cell, worker* here) noexcept {
  scope_state& within = cell.scope();
  const std::size_t lane = lane_of(here);
  everything_->spawned(lane);
  if (&within != everything_.get()) within.spawned(lane);
  if (places()) static_cast<home_queue&>(cell.home()).count_newcomer(here);
  tell_hooks(&hooks::task_spawned, cell.id());
  cell.joined.open();
  process_barrier::light();
  if (within.stops_newcomers() || stops_everything()) [[unlikely]]
    cell.request_stop();
}

void core::refuse(task_cell& cell) noexcept {
  // order: none; a number that stands for itself.
  refused_.fetch_add(1, std::memory_order_relaxed);
  settings_.log.debug("a runtime that ends has refused a task",
                      {{"runtime", std::string_view(name_)},
                       {"name", cell.name()},
                       {"file", std::string_view(cell.where().file_name())},
                       {"line", cell.where().line()}});
  cell.cancel_unrun();
  cell.joined.open();
  check(cell.joined.end() == join_word<std_atomics>::end_answer::kept,
        "a handle is given for a task that was refused");
}

void core::count_cancelled(worker* here) noexcept {
  if (here != nullptr)
    here->count_cancelled();
  else
    // order: none; a number that stands for itself.
    cancelled_outside_.fetch_add(1, std::memory_order_relaxed);
}

void core::count_departure(worker* here) noexcept {
  if (places() && here != nullptr) here->pinned().count_end();
}

void core::count_end(const worker* here, scope_state& within) noexcept {
  const std::size_t lane = lane_of(here);
  const bool quiet = everything_->ended(lane);
  // order: [runtime.abandon] acquire: nobody waits; see leave_alone().
  if (quiet && abandoned_.load(std::memory_order_acquire)) let_go();
  if (&within != everything_.get()) static_cast<void>(within.ended(lane));
}

void core::free_cell(task_cell& cell) noexcept {
  if (cell.exception() != nullptr) report_unhandled(cell);
  cell.clear();
  if (worker* const here = current_in_function().worker_of(*this)) [[likely]]
    return here->give_cell(cell);
  give_cell(nullptr, cell);
}

// Without a copy of the words: there may be no memory for one.
[[gnu::noinline]] void core::report_unhandled(const task_cell& cell) noexcept {
  const auto log = [&](std::string_view what) {
    settings_.log.error("a task ended with an exception that nobody will see",
                        {{"task", cell.id()},
                         {"name", cell.name()},
                         {"file", std::string_view(cell.where().file_name())},
                         {"line", cell.where().line()},
                         {"what", what}});
  };
  try {
    std::rethrow_exception(cell.exception());
  } catch (const std::exception& thrown) {
    log(thrown.what());
  } catch (...) {
    log("not derived from std::exception");
  }
  if (settings_.unhandled == unhandled::shut_down && !stops_everything()) close_and_stop();
}

[[gnu::noinline]] void core::throw_forked() const {
  throw std::logic_error("skua: this runtime belongs to process " +
                         std::to_string(process_.owner_pid()) + "; a forked child cannot use it");
}

}  // namespace skua::inline SKUA_ABI
