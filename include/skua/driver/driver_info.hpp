// skua/driver/driver_info.hpp: how a runtime talks to the kernel, and why that way.
#pragma once

#include "skua/base/abi.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::inline SKUA_ABI {

/// The ways there are.
enum class backend : unsigned char {
  automatic,  ///< io_uring if it works here, otherwise epoll; never in a driver_info
  uring,      ///< io_uring, Linux 5.19 or later
  epoll,      ///< epoll, and threads for what epoll cannot do
  none,       ///< no I/O: timers only; no descriptor is opened
};

/// "automatic", "uring", "epoll" or "none": what SKUA_BACKEND takes.
[[nodiscard]] constexpr std::string_view name_of(backend which) noexcept {
  switch (which) {
    case backend::automatic:
      return "automatic";
    case backend::uring:
      return "uring";
    case backend::epoll:
      return "epoll";
    case backend::none:
      return "none";
  }
  return "?";
}

/// The choice a runtime made when it started. It stays with it to the end.
struct driver_info {
  backend used = backend::none;  ///< which one it is
  /// io_uring would have been used if it worked.
  bool fell_back = false;

  /// Of each worker's ring, as the kernel gave them; 0 without one.
  std::uint32_t submission_entries = 0;
  /// The same for completions.
  std::uint32_t completion_entries = 0;

  /// Each ring is its worker's alone (SINGLE_ISSUER, DEFER_TASKRUN): thread_per_core, Linux 6.1.
  bool ring_of_one_thread = false;

  /// What this kernel's ring does by itself, and what is done in other ways otherwise.
  bool ring_send_zero_copy = false;
  /// Waits for a word of memory without a thread; Linux 6.7.
  bool ring_futex = false;
  /// Changes the length of a file without a thread; Linux 6.9.
  bool ring_ftruncate = false;

  /// A sentence: why this one.
  [[nodiscard]] std::string_view reason() const noexcept { return {text.data(), length}; }
  /// For drivers. What is longer than `text` is cut off.
  void set_reason(std::string_view why) noexcept { length = why.copy(text.data(), text.size()); }

  std::array<char, 160> text{};  ///< of reason()
  std::size_t length = 0;        ///< of reason(), in bytes
};

}  // namespace skua::inline SKUA_ABI
