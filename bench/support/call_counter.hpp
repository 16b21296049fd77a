// bench/support/call_counter.hpp: how many system calls a thread makes.
#pragma once

#include "skua/driver/unique_fd.hpp"

#include <cstdint>
#include <expected>

/// Counts in the kernel, with the tracepoint raw_syscalls:sys_enter: every call of one thread, no
/// matter which, and without slowing it down much. Needs the right to trace (root, say).
class call_counter {
public:
  /// For the calling thread; nothing is counted yet. Otherwise an errno.
  [[nodiscard]] static std::expected<call_counter, int> for_this_thread();

  // Any thread.
  void start() const;
  /// The calls since start().
  [[nodiscard]] std::uint64_t stop() const;

private:
  explicit call_counter(skua::unique_fd made) noexcept : fd_(std::move(made)) {}
  skua::unique_fd fd_;
};
