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
  if (record_.code == op_code::close && through_ == nullptr) unique_fd(record_.fd).reset();
}

void io_wait::start() noexcept {
  const current_state& here = current();
  check(!under_way_, "an operation is awaited by one task at a time");
  has_result_ = false;
  outside_ = here.runtime == nullptr;
  if (outside_) return complete();
  const bool limited = timeout_ != no_deadline && record_.code != op_code::close;
  record_.expiry.deadline = limited ? here.runtime->deadline_after(timeout_) : no_deadline;
  through_ = &here.runtime->driver_of_this_thread();
  under_way_ = true;
  stands_still_ = here.runtime->virtual_time();
  if (stands_still_ != nullptr) stands_still_->operation_begins();
  if (at_ != nullptr) at_->operation_begins();
  through_->submit(record_);
}

// The descriptor may go as soon as the task goes on.
void io_wait::stop_counting() noexcept {
  under_way_ = false;
  if (at_ != nullptr) at_->operation_ended();
}

cancel_answer io_wait::cancel() noexcept {
  if (record_.code == op_code::close) return cancel_answer::pending;
  if (outside_) return cancel_answer::pending;  // the completion is on its way
  if (!through_->cancel(record_)) return cancel_answer::pending;
  stop_counting();
  if (stands_still_ != nullptr) stands_still_->operation_ended();
  return cancel_answer::detached;
}

void io_wait::ended(operation& op) noexcept {
  io_wait& self = static_cast<record&>(op).of;
  self.has_result_ = true;
  self.stop_counting();
  if (op.code == op_code::close) op.fd = -1;  // which may be another's by now
  virtual_clock* const stood_still = self.stands_still_;
  if (op.result == -ECANCELED)
    self.complete_cancelled();
  else
    self.complete();
  if (stood_still != nullptr) stood_still->operation_ended();
}

std::int32_t io_wait::take() {
  has_result_ = false;
  if (outside_) throw std::logic_error("skua::io: an operation is awaited in a task of a runtime");
  if (record_.result >= large) charge(record_.result);
  return record_.result;
}

// To move much takes longer than to move little.
void io_wait::charge(std::int32_t bytes) noexcept {
  turn* const now = current().as;
  if (now != nullptr)
    now->budget -= std::min(now->budget, static_cast<std::uint32_t>(bytes / large));
}

std::unexpected<std::error_code> io_wait::failure(std::int32_t negated) const noexcept {
  if (negated == -ECANCELED && record_.timed_out) return fail(std::errc::timed_out);
  return fail(error_from_errno(-negated));
}

}  // namespace skua::inline SKUA_ABI
