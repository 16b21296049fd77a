// src/base/clock.cpp: ask the kernel, or a number that a test moves.
#include "skua/base/clock.hpp"

#include "skua/base/check.hpp"

#include <time.h>

#include <atomic>
#include <limits>

namespace skua::inline SKUA_ABI {

std::int64_t monotonic_clock::now() const noexcept {
  timespec time{};
  check(::clock_gettime(CLOCK_MONOTONIC, &time) == 0, "Linux has a monotonic clock");
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t manual_clock::now() const noexcept {
  // order: [manual_clock.advance] acquire: sees what was written before the time was set.
  return std::atomic_ref(now_).load(std::memory_order_acquire);
}

void manual_clock::advance(std::int64_t nanoseconds) noexcept {
  check(nanoseconds >= 0, "a clock never goes back");
  // order: [manual_clock.advance] release: all that we wrote, to whoever reads the new time.
  const std::int64_t before =
      std::atomic_ref(now_).fetch_add(nanoseconds, std::memory_order_release);
  check(before <= std::numeric_limits<std::int64_t>::max() - nanoseconds,
        "a clock stays within what an int64 can hold");
}

}  // namespace skua::inline SKUA_ABI
