// src/driver/wake_event.hpp: an eventfd that is written to wake its owner, and never read.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"

#include <expected>

namespace skua::inline SKUA_ABI {

/// Whoever watches the descriptor sees each write as a new edge; since nobody reads, that costs no
/// system call. The count has room for one write each nanosecond during five centuries.
class wake_event {
public:
  /// Or an errno.
  [[nodiscard]] static std::expected<wake_event, int> make() noexcept;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Any thread.
  void signal() const noexcept;

private:
  explicit wake_event(unique_fd made) noexcept : fd_(std::move(made)) {}
  unique_fd fd_;
};

}  // namespace skua::inline SKUA_ABI
