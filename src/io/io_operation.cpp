// src/io/io_operation.cpp: from a leaf to a driver, and back.
#include "skua/io/io_operation.hpp"

#include "driver/driver.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/virtual_clock.hpp"
#include "runtime/worker.hpp"
#include "skua/base/check.hpp"
#include "skua/io/descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace skua::inline SKUA_ABI {
// What was to be closed is closed, even if the task was stopped before.
io_wait::~io_wait() {
  if (code == op_code::close && home == nullptr) unique_fd(fd).reset();
}

void io_wait::start() noexcept {
  const current_state& here = current();
  check(state_ != state::under_way, "an operation is awaited by one task at a time");
  state_ = state::idle;
  outside_ = here.runtime == nullptr;
  if (outside_) return complete();
  const bool limited = timeout_ != no_deadline && code != op_code::close;
  expiry().deadline = limited ? here.runtime->deadline_after(timeout_) : no_deadline;
  driver& through = here.runtime->driver_of_this_thread();
  home = &through;
  state_ = state::under_way;
  stands_still_ = here.runtime->virtual_time();
  if (stands_still_ != nullptr) stands_still_->operation_begins();
  if (at_ != nullptr) at_->operation_begins();
  through.submit(*this);
}

// The descriptor may go as soon as the task goes on.
void io_wait::let_go_as(state now) noexcept {
  state_ = now;
  if (at_ != nullptr) at_->operation_ended();
}

cancel_answer io_wait::cancel() noexcept {
  if (code == op_code::close) return cancel_answer::pending;
  if (outside_) return cancel_answer::pending;  // the completion is on its way
  if (!home->cancel(*this)) return cancel_answer::pending;
  let_go_as(state::idle);
  if (stands_still_ != nullptr) stands_still_->operation_ended();
  return cancel_answer::detached;
}

void io_wait::ended(operation& op) noexcept {
  auto& self = static_cast<io_wait&>(op);
  self.let_go_as(state::ended);
  if (op.code == op_code::close) op.fd = -1;  // which may be another's by now
  virtual_clock* const stood_still = self.stands_still_;
  if (op.result == -ECANCELED)
    self.complete_cancelled();
  else
    self.complete();
  if (stood_still != nullptr) stood_still->operation_ended();
}

std::int32_t io_wait::take() {
  state_ = state::idle;
  if (outside_) throw std::logic_error("skua::io: an operation is awaited in a task of a runtime");
  if (operation::result >= large) charge(operation::result);
  return operation::result;
}

// To move much takes longer than to move little.
void io_wait::charge(std::int32_t bytes) noexcept {
  turn* const now = current().as;
  if (now != nullptr)
    now->budget -= std::min(now->budget, static_cast<std::uint32_t>(bytes / large));
}

std::unexpected<std::error_code> io_wait::failure(std::int32_t negated) const noexcept {
  if (negated == -ECANCELED && timed_out) return fail(std::errc::timed_out);
  return fail(error_from_errno(-negated));
}

}  // namespace skua::inline SKUA_ABI
