// src/driver/futex.hpp: sleep on a word of this process until another thread changes it.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>
#include <cstdint>
#include <limits>

namespace skua::inline SKUA_ABI {

/// The kernel's futex, for threads of one process. Orders no memory; the word does.
struct process_futex {
  static constexpr std::int64_t no_deadline = std::numeric_limits<std::int64_t>::max();

  /// Sleeps while `word` holds `expected`, until a wake or `deadline`, which is absolute, in
  /// nanoseconds of CLOCK_MONOTONIC. False if the deadline has passed, and never before it. True
  /// otherwise: the word had another value, a wake came, or a signal, or nothing did; look again.
  [[nodiscard]] static bool wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                 std::int64_t deadline) noexcept;

  /// Wakes one thread that sleeps on `word`, if there is one, and says whether. Uses only its
  /// address, which may even belong to another object by now: whoever sleeps there looks again.
  static bool wake_one(std::atomic<std::uint32_t>& word) noexcept;
};

}  // namespace skua::inline SKUA_ABI
