// tests/model/vector_clock.hpp: who has seen how much of whom.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace skua_model {

/// The scenario itself is thread 0; it may start up to seven more.
inline constexpr std::size_t threads_max = 8;

struct vector_clock {
  std::array<std::uint32_t, threads_max> seen{};

  void join(const vector_clock& other) {
    for (std::size_t i = 0; i < threads_max; ++i) seen[i] = std::max(seen[i], other.seen[i]);
  }
  /// True if what `thread` did at its time `when` happens before whoever has this clock.
  [[nodiscard]] bool covers(std::size_t thread, std::uint32_t when) const {
    return seen[thread] >= when;
  }
};

}  // namespace skua_model
