// skua/process/child.hpp: the hold on a child process.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/pipe.hpp"
#include "skua/process/exit_status.hpp"

#include <sys/types.h>

#include <optional>
#include <utility>

namespace skua::inline SKUA_ABI {
class process_record;
}

namespace skua::inline SKUA_ABI::process {

/// What command::spawn() gives. One owner.
///
/// When it is dropped before the end was waited for, the process is killed, together with its group
/// if it was started as the first of one, also if it has ended itself and others of the group go
/// on; unless command::kill_on_drop(false) or leave_running() said otherwise. Either way its end is
/// taken: no zombie stays. A background task of the runtime that it was started in does that. When
/// that runtime has ended first, the next start or drop of any child in this process does it, or
/// the next runtime that starts one; there is no thread for it. In a forked child of ours that
/// drops its copy, nothing happens to the process.
class [[gnu::visibility("default")]] child {
public:
  /// `from` stands for no process then.
  child(child&& from) noexcept
      : record_(std::exchange(from.record_, nullptr)),
        in_(std::move(from.in_)),
        out_(std::move(from.out_)),
        err_(std::move(from.err_)) {}
  /// The one that it stood for is dropped: see above.
  child& operator=(child&& from) noexcept {
    child old(std::move(*this));
    record_ = std::exchange(from.record_, nullptr);
    in_ = std::move(from.in_);
    out_ = std::move(from.out_);
    err_ = std::move(from.err_);
    return *this;
  }
  ~child();

  /// The number of the process. It is that of no other until the end was waited for.
  [[nodiscard]] pid_t id() const noexcept;

  /// Suspends until the process has ended, and says how; again and again. Closes in() first, if it
  /// is still there: many programs read until then. Several tasks may wait; it stays where it is
  /// meanwhile. Stopped: nothing is lost.
  ///
  /// Fails with std::errc::no_child_process if another part of the program took the end, or ignores
  /// SIGCHLD. Where the kernel has no pidfd, it listens to SIGCHLD: see signal::listen().
  [[nodiscard]] task<result<exit_status>> wait();

  /// How it has ended, if it has. Does not suspend; from any thread. Errors as wait().
  [[nodiscard]] result<std::optional<exit_status>> try_wait();

  /// Sends a signal; kill() sends SIGKILL. Does not suspend; from any thread, also while a task
  /// waits. Never hits another process. Fails with std::errc::no_such_process if its end was waited
  /// for; one that has ended but was not waited for takes it without effect.
  result<void> signal(int number) const noexcept;
  /// SIGKILL, which no program can refuse. Otherwise as signal().
  result<void> kill() const noexcept;
  /// The same for every process of its group. Only if it was started with command::new_group() or
  /// new_session(): otherwise std::errc::invalid_argument. Once its end was waited for,
  /// std::errc::no_such_process, even if others of the group go on.
  result<void> signal_group(int number) const noexcept;

  /// The ends of the pipes that command::in(), out() and err() asked for; nothing otherwise. Move
  /// one out to give it to another task, reset() it to close it.
  [[nodiscard]] std::optional<io::pipe_writer>& in() noexcept { return in_; }
  /// Its standard output, likewise.
  [[nodiscard]] std::optional<io::pipe_reader>& out() noexcept { return out_; }
  /// Its standard error, likewise.
  [[nodiscard]] std::optional<io::pipe_reader>& err() noexcept { return err_; }

  /// Dropping it does not kill any more.
  void leave_running() noexcept;

private:
  friend class command;
  explicit child(process_record& of) noexcept : record_(&of) {}
  [[nodiscard]] process_record& record() const noexcept;

  process_record* record_;
  std::optional<io::pipe_writer> in_;
  std::optional<io::pipe_reader> out_;
  std::optional<io::pipe_reader> err_;
};

}  // namespace skua::inline SKUA_ABI::process
