// src/runtime/join_handle.cpp: the handle's side of a task.
#include "skua/runtime/join_handle.hpp"

#include "runtime/core.hpp"
#include "runtime/task_cell.hpp"

namespace skua::inline SKUA_ABI {

void spawned_task::drop(task_cell& cell) noexcept {
  if (cell.drop()) cell.runtime.free_cell(cell);
}

bool spawned_task::abort(task_cell& cell) noexcept {
  return !cell.has_ended() && cell.request_stop();
}

bool spawned_task::done(const task_cell& cell) noexcept {
  return cell.has_ended();
}

bool spawned_task::run_in_place(task_cell& cell, frame_handle awaiting) noexcept {
  return cell.run_in_turn_of(*awaiting.promise().context);
}

std::uint64_t spawned_task::id(const task_cell& cell) noexcept {
  return cell.id();
}

void* spawned_task::result(task_cell& cell) noexcept {
  return cell.result();
}

void join_wait::start() noexcept {
  whom_.joiner = this;
  if (!whom_.joined.join()) complete();
}

void join_wait::await_resume() const noexcept {
  whom_.tell_end();
}

cancel_answer join_wait::cancel() noexcept {
  return whom_.joined.leave() ? cancel_answer::detached : cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
