// src/io/io_operation.cpp: from a leaf to a driver, and back.
#include "skua/io/io_operation.hpp"

#include "driver/driver.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"

#include <cerrno>
#include <stdexcept>

namespace skua::inline SKUA_ABI {
// What was to be closed is closed, even if the task was stopped before.
io_wait::~io_wait() {
  if (record_.code == op_code::close && through_ == nullptr) unique_fd(record_.fd).reset();
}

void io_wait::start() noexcept {
  const current_state& here = current();
  has_result_ = false;
  outside_ = here.runtime == nullptr;
  if (outside_) return complete();
  const bool limited = timeout_ != no_deadline && record_.code != op_code::close;
  record_.expiry.deadline = limited ? here.runtime->deadline_after(timeout_) : no_deadline;
  through_ = &here.runtime->driver_of_this_thread();
  through_->submit(record_);
}

cancel_answer io_wait::cancel() noexcept {
  if (record_.code == op_code::close) return cancel_answer::pending;
  if (outside_) return cancel_answer::pending;  // the completion is on its way
  return through_->cancel(record_) ? cancel_answer::detached : cancel_answer::pending;
}

void io_wait::ended(operation& op) noexcept {
  io_wait& self = static_cast<record&>(op).of;
  self.has_result_ = true;
  if (op.result == -ECANCELED)
    self.complete_cancelled();
  else
    self.complete();
}

std::int32_t io_wait::take() {
  has_result_ = false;
  if (outside_) throw std::logic_error("skua::io: an operation is awaited in a task of a runtime");
  return record_.result;
}

std::unexpected<std::error_code> io_wait::failure(std::int32_t negated) const noexcept {
  if (negated == -ECANCELED && record_.timed_out) return fail(std::errc::timed_out);
  return fail(error_from_errno(-negated));
}

}  // namespace skua::inline SKUA_ABI
