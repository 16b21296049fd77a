// src/driver/start_process.hpp: makes a child process that executes a program.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>

namespace skua::inline SKUA_ABI {

/// What the child was about when it failed; in the order in which it does these things.
enum class process_step : std::uint8_t {
  process,      ///< there was no child: no memory, no process number
  descriptors,  ///< to put them where the program expects them
  group,        ///< the session and the process group
  identity,     ///< groups and ids
  directory,    ///< the working directory
  program,      ///< to execute it
};

/// What the child is to do. All of it is borrowed until start_process() has returned.
struct process_plan {
  struct descriptor {
    int from;  // of ours
    int to;    // of the child's
  };

  /// Used up. No two have the same `to`. Standard streams that are not listed stay as they are.
  std::span<descriptor> descriptors;
  /// Above the standard streams the program gets the descriptors of the list, and no others.
  bool closes_others = true;

  bool new_session = false;
  std::optional<pid_t> group;  // 0: a new one, with the child's number
  std::optional<std::span<const gid_t>> groups;
  std::optional<gid_t> gid;
  std::optional<uid_t> uid;
  std::optional<mode_t> mask;       // of the files that it makes
  const char* directory = nullptr;  // null: ours

  std::span<const char* const> candidates;  // paths, of which the first that there is is executed
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
};

struct started_process {
  pid_t id = -1;
  unique_fd pidfd;  // none where the kernel has none
  int error = 0;    // an errno; then there is no child, or no longer
  process_step failed_at = process_step::process;
};

/// Blocks until the child executes its program, or has failed to: for a thread where that does no
/// harm. Takes as long for a process with much memory as for one with little: the child runs in our
/// memory, on a stack of its own, while the calling thread stands still.
///
/// The program starts with no signal blocked, with the default action for SIGPIPE and for each
/// signal that we handle; what we ignore besides, it ignores. No handler of ours ever runs in the
/// child.
[[nodiscard]] started_process start_process(const process_plan& plan) noexcept;

}  // namespace skua::inline SKUA_ABI
