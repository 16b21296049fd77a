// src/process/process_record.cpp: wait for an end, and send signals to the right process.
#include "process/process_record.hpp"

#include "skua/base/check.hpp"
#include "skua/base/error.hpp"
#include "skua/io/wait.hpp"
#include "skua/process/signal_stream.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

extern "C" {  // which the header of glibc 2.36 forgets to say
#include <sys/pidfd.h>
}

namespace skua::inline SKUA_ABI {
namespace {

process::exit_status status_of(const siginfo_t& how) noexcept {
  if (how.si_code == CLD_EXITED) return process::exit_status::exited(how.si_status);
  return process::exit_status::killed(how.si_status, how.si_code == CLD_DUMPED);
}

result<void> answer(int returned) noexcept {
  if (returned == 0) return {};
  return fail(error_from_errno(errno));
}

}  // namespace

/// Counts a task that waits, so that the record is not destroyed under it.
class process_record::waiting {
public:
  explicit waiting(process_record& of) noexcept : of_(of) { ++of_.waiters_; }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;
  ~waiting() { --of_.waiters_; }

private:
  process_record& of_;
};

process_record::process_record() noexcept : owner_(::getpid()) {}

process_record::~process_record() {
  check(waiters_.load() == 0, "a child stays where it is while a task waits for it");
}

void process_record::started(pid_t id, unique_fd pidfd, bool leads_group) noexcept {
  id_ = id;
  pidfd_ = std::move(pidfd);
  leads_group_ = leads_group;
}

bool process_record::is_ours() const noexcept {
  return ::getpid() == owner_;
}

int process_record::look(siginfo_t& how, int options) const noexcept {
  const idtype_t type = pidfd_ ? P_PIDFD : P_PID;
  const auto whom = static_cast<id_t>(pidfd_ ? pidfd_.get() : id_);
  int done = 0;
  do done = ::waitid(type, whom, &how, options);
  while (done != 0 && errno == EINTR);
  return done;
}

bool process_record::is_child() const noexcept {
  siginfo_t how{};
  return look(how, WEXITED | WNOHANG | WNOWAIT) == 0;
}

std::optional<result<process::exit_status>> process_record::take() noexcept {
  const std::lock_guard hold(mutex_);
  if (end_.has_value()) return end_;
  siginfo_t how{};
  if (look(how, WEXITED | WNOHANG) != 0)
    end_.emplace(fail(error_from_errno(errno)));
  else if (how.si_pid != 0)
    end_.emplace(status_of(how));
  return end_;
}

// The end is looked at here and taken there: of several who wait none goes without.
task<result<void>> process_record::wait_by_pidfd() const {
  siginfo_t how{};
  const auto ended = co_await io::wait_process(pidfd_.get(), how, WEXITED | WNOWAIT);
  if (!ended.has_value() && ended.error() != std::errc::no_child_process)
    co_return fail(ended.error());
  co_return {};
}

task<result<process::exit_status>> process_record::wait() {
  const waiting here(*this);
  std::optional<signal::stream> changes;
  if (!pidfd_) {
    result<signal::stream> made = signal::listen(SIGCHLD);
    if (!made.has_value()) co_return fail(made.error());
    changes.emplace(std::move(*made));
  }
  for (;;) {
    if (const auto end = take()) co_return *end;
    if (changes.has_value()) {
      const result<int> came = co_await changes->next();
      if (!came.has_value()) co_return fail(came.error());
    } else {
      const result<void> ended = co_await wait_by_pidfd();
      if (!ended.has_value()) co_return fail(ended.error());
    }
  }
}

result<void> process_record::send(int signal) noexcept {
  if (!pidfd_) return send_to(id_, signal);
  const int sent = ::pidfd_send_signal(pidfd_.get(), signal, nullptr, 0);
  if (sent != 0 && errno == ENOSYS) return send_to(id_, signal);  // a filter that forbids it
  return answer(sent);
}

result<void> process_record::send_to_group(int signal) noexcept {
  if (!leads_group_) return fail(std::errc::invalid_argument);
  return send_to(-id_, signal);
}

result<void> process_record::send_to(pid_t whom, int signal) noexcept {
  const std::lock_guard hold(mutex_);
  if (end_.has_value() || !is_child()) return fail(std::errc::no_such_process);
  return answer(::kill(whom, signal));
}

void process_record::kill_all() noexcept {
  if (leads_group_) static_cast<void>(send_to_group(SIGKILL));
  static_cast<void>(send(SIGKILL));  // also if it has left its group
}

}  // namespace skua::inline SKUA_ABI
