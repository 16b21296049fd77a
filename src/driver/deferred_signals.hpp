// src/driver/deferred_signals.hpp: lets ThreadSanitizer run the signal handlers that it keeps back.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/sanitizer.hpp"

#include <poll.h>

#include <algorithm>
#include <cstdint>

namespace skua::inline SKUA_ABI {

// ThreadSanitizer calls a handler only where a thread makes a system call that it knows; those in
// which our threads sleep are others. A signal that comes to a thread which does nothing else would
// not be handled at all: no Ctrl-C, no SIGCHLD. Both functions do nothing in other builds.

/// The longest that a thread sleeps in one of those calls: a signal that comes just before does not
/// end it.
[[nodiscard]] constexpr std::int64_t limit_of_sleep(std::int64_t nanoseconds) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  return built_with_tsan ? std::min(nanoseconds, second) : nanoseconds;
}

/// After each such call that may have slept.
inline void run_deferred_signals() noexcept {
  if constexpr (built_with_tsan) ::poll(nullptr, 0, 0);
}

}  // namespace skua::inline SKUA_ABI
