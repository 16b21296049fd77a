// src/process/child.cpp: what a child's owner may do, done by its record.
#include "skua/process/child.hpp"

#include "process/process_record.hpp"
#include "skua/base/check.hpp"
#include "skua/base/error.hpp"

#include <csignal>

namespace skua::inline SKUA_ABI::process {

child::~child() {
  if (record_ != nullptr) let_go(*record_);
}

process_record& child::record() const noexcept {
  check(record_ != nullptr, "a child is not used after it was moved from");
  return *record_;
}

pid_t child::id() const noexcept {
  return record().id();
}

task<result<exit_status>> child::wait() {
  in_.reset();
  return record().wait();
}

result<std::optional<exit_status>> child::try_wait() {
  const auto end = record().take();
  if (!end.has_value()) return std::optional<exit_status>();
  if (!end->has_value()) return fail(end->error());
  return std::optional(**end);
}

result<void> child::signal(int number) const noexcept {
  return record().send(number);
}

result<void> child::kill() const noexcept {
  return signal(SIGKILL);
}

result<void> child::signal_group(int number) const noexcept {
  return record().send_to_group(number);
}

void child::leave_running() noexcept {
  record().kill_when_dropped = false;
}

}  // namespace skua::inline SKUA_ABI::process
