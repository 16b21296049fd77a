// tools/skua/latencies.hpp: how long answers took, counted by many tasks and read by others.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace skua_tool {

/// On a scale that is fine enough for ratios of 1.1, which skua::histogram is not: 32 buckets of
/// equal width for each power of two, so that the upper bound of a bucket is at most 1/32 above its
/// lower one. Below 64 ns each number has its own; from 2^36 ns (68.7 s) on there is but one.
struct latency_buckets {
  static constexpr std::size_t in_an_octave = 32;
  static constexpr int last_octave = 35;  // begins at 2^35
  static constexpr std::size_t count = (last_octave - 3) * in_an_octave + 1;
  static constexpr std::size_t over = count - 1;

  /// Of 0 and above.
  [[nodiscard]] static constexpr std::size_t of(std::int64_t nanoseconds) noexcept {
    const auto number = static_cast<std::uint64_t>(nanoseconds);
    if (number < in_an_octave) return number;
    const int octave = static_cast<int>(std::bit_width(number)) - 1;
    if (octave > last_octave) return over;
    const std::size_t place = (number >> (octave - 5)) % in_an_octave;
    return static_cast<std::size_t>(octave - 4) * in_an_octave + place;
  }

  /// Greater than every number in the bucket, and the least in the next.
  [[nodiscard]] static constexpr std::int64_t upper_bound(std::size_t bucket) noexcept {
    if (bucket == over) return std::numeric_limits<std::int64_t>::max();
    if (bucket < in_an_octave) return static_cast<std::int64_t>(bucket) + 1;
    const auto above = static_cast<std::int64_t>(in_an_octave + bucket % in_an_octave + 1);
    return above << (bucket / in_an_octave - 1);
  }
};

/// A copy of what was counted.
struct latency_counts {
  std::array<std::uint64_t, latency_buckets::count> in_bucket{};
  std::uint64_t sum = 0;     // nanoseconds
  std::int64_t largest = 0;  // exactly

  latency_counts& operator+=(const latency_counts& other) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] double mean() const noexcept;
  /// A number that a share of `q` do not exceed, from 0 to 1: the upper bound of the bucket in
  /// which that share is reached, or the largest if that is less. 0 if nothing was counted.
  [[nodiscard]] std::int64_t quantile(double q) const noexcept;
};

/// Anybody records, and anybody may take a snapshot meanwhile. Each count is exact, but they are
/// not read at one moment. Connections share one: with one each, every answer would find its count
/// fallen out of the cache.
class latencies {
public:
  void record(std::int64_t nanoseconds) noexcept;
  [[nodiscard]] latency_counts snapshot() const noexcept;

private:
  std::array<std::atomic<std::uint64_t>, latency_buckets::count> counts_{};
  std::atomic<std::uint64_t> sum_ = 0;
  std::atomic<std::int64_t> largest_ = 0;
};

}  // namespace skua_tool
