// src/runtime/spawn_blocking.cpp: a task waits for a thread of the pool.
#include "skua/runtime/spawn_blocking.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/task_cell.hpp"

#include <system_error>

namespace skua::inline SKUA_ABI {

void blocking_wait::start() noexcept {
  core* const here = current().runtime;
  task_ = current().task;
  if (here == nullptr) {  // sync_wait: this thread may block
    call_(*this);
    complete();
  } else if (!here->pool().submit(*this)) {
    refused_ = true;
    complete();
  }
}

void blocking_wait::run_job(pool_job& job) noexcept {
  auto& self = static_cast<blocking_wait&>(job);
  current().task = self.task_;  // what the call spawns belongs where the task does
  self.call_(self);
  current().task = nullptr;
  self.complete();
}

cancel_answer blocking_wait::cancel() noexcept {
  core* const on = task_ == nullptr ? nullptr : &task_->runtime;
  if (on == nullptr || !on->pool().withdraw(*this)) return cancel_answer::pending;
  return cancel_answer::detached;
}

void blocking_wait::throw_if_refused() const {
  if (refused_)
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "skua::spawn_blocking: no thread can be had");
}

}  // namespace skua::inline SKUA_ABI
