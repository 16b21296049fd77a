// tests/support/forked.hpp: a forked child of the test, what it wrote to standard error, its end.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace skua_test {

/// `if (child.fork()) { ...; _exit(0); }` in the child; join() in the parent. A child that hangs is
/// ended by SIGALRM. Between the two, GoogleTest's macros are for the parent only.
class forked {
public:
  forked() = default;
  forked(const forked&) = delete;
  forked& operator=(const forked&) = delete;

  /// True in the child.
  bool fork() {
    if (::pipe(ends_) != 0) std::abort();
    id_ = ::fork();
    if (id_ != 0) {
      ::close(ends_[1]);
      return false;
    }
    ::dup2(ends_[1], STDERR_FILENO);
    ::alarm(patience);
    return true;
  }

  /// Waits for the end of the child. All else is for afterwards.
  void join() {
    char buffer[512];
    for (ssize_t got = 1; got > 0;) {
      got = ::read(ends_[0], buffer, sizeof buffer);
      if (got > 0) said_.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(ends_[0]);
    if (::waitpid(id_, &status_, 0) != id_) std::abort();
  }

  [[nodiscard]] bool exited_well() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
  [[nodiscard]] bool aborted() const {
    return WIFSIGNALED(status_) && WTERMSIG(status_) == SIGABRT;
  }
  [[nodiscard]] const std::string& said() const { return said_; }
  /// For the text of a failure.
  [[nodiscard]] std::string end() const {
    if (WIFSIGNALED(status_) && WTERMSIG(status_) == SIGALRM) return "it hangs; it said: " + said_;
    return "status " + std::to_string(status_) + "; it said: " + said_;
  }

private:
  static constexpr unsigned patience = 100;  // seconds

  int ends_[2] = {};
  pid_t id_ = 0;
  int status_ = 0;
  std::string said_;
};

}  // namespace skua_test
