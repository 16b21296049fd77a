// src/process/process_record.hpp: a child process, from its start until its end was taken.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/process/exit_status.hpp"
#include "skua/runtime/runtime.hpp"

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace skua::inline SKUA_ABI {

/// All functions are for any thread, but for what says otherwise.
class process_record {
public:
  process_record() noexcept;
  process_record(const process_record&) = delete;
  process_record& operator=(const process_record&) = delete;
  ~process_record();

  /// Once, before anybody else has it. Without a pidfd it waits by SIGCHLD.
  void started(pid_t id, unique_fd pidfd, bool leads_group) noexcept;
  /// What happens when it is dropped; by its owner.
  bool kill_when_dropped = true;
  /// Where its end is waited for when it is dropped; by its owner.
  std::optional<runtime_handle> home;
  process_record* next_orphan = nullptr;  // of those whose lock it is under

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  /// In the process that started it, and not in a forked child of that.
  [[nodiscard]] bool is_ours() const noexcept;

  /// Its end, if it has come: how it ended, or why nobody knows. The same ever after.
  [[nodiscard]] std::optional<result<process::exit_status>> take() noexcept;
  /// Suspends until take() has something. The record outlives it.
  [[nodiscard]] task<result<process::exit_status>> wait();

  [[nodiscard]] result<void> send(int signal) noexcept;
  [[nodiscard]] result<void> send_to_group(int signal) noexcept;
  /// All that dropping it is to kill.
  void kill_all() noexcept;

private:
  class waiting;
  [[nodiscard]] task<result<void>> wait_by_pidfd() const;
  [[nodiscard]] result<void> send_to(pid_t whom, int signal) noexcept;
  /// waitid(2).
  [[nodiscard]] int look(siginfo_t& how, int options) const noexcept;
  /// Alive or dead. If another took its end, the number may be another's by now.
  [[nodiscard]] bool is_child() const noexcept;

  const pid_t owner_;  // the process whose child it is
  pid_t id_ = -1;
  unique_fd pidfd_;
  bool leads_group_ = false;
  std::atomic<std::uint32_t> waiters_ = 0;

  // Whoever sends a signal to a number has to know that the end was not taken.
  std::mutex mutex_;
  std::optional<result<process::exit_status>> end_;
};

/// Owns a record whose child object is gone. When this goes, too, before the end was taken (its
/// task was stopped, say), the record is left to the orphans.
class orphan {
public:
  explicit orphan(process_record& of) noexcept : record_(&of) {}
  orphan(orphan&& from) noexcept;
  orphan& operator=(orphan&&) = delete;
  ~orphan();

  [[nodiscard]] process_record& record() const noexcept { return *record_; }

private:
  process_record* record_;
};

/// Of the owner of a child that is dropped: sees to it that the end is taken, sooner or later.
void let_go(process_record& of) noexcept;

/// Takes the ends of orphans that have come, and leaves the others to tasks of this runtime.
void adopt_orphans(const runtime_handle& by) noexcept;

/// How many there are; for tests.
[[nodiscard]] std::size_t count_orphans() noexcept;

}  // namespace skua::inline SKUA_ABI
