// src/driver/alarm_event.hpp: a timerfd that ends its owner's sleep, and is never read.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"

#include <cstdint>
#include <expected>

namespace skua::inline SKUA_ABI {

/// Can be set by another thread while the owner sleeps, without waking it: that is why it is no
/// timer of the owner's wheel.
class alarm_event {
public:
  /// Or an errno.
  [[nodiscard]] static std::expected<alarm_event, int> make() noexcept;

  /// Whoever watches it sees a new edge each time it goes off.
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Any thread: goes off once, after so many nanoseconds, instead of when it was set for before.
  void set(std::int64_t nanoseconds) const noexcept;

private:
  explicit alarm_event(unique_fd made) noexcept : fd_(std::move(made)) {}
  unique_fd fd_;
};

}  // namespace skua::inline SKUA_ABI
