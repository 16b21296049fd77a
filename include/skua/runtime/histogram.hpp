// skua/runtime/histogram.hpp: how long things took: counts on a logarithmic scale, at one moment.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// A copy of what was counted; nobody changes it behind its owner's back. Copies taken of several
/// threads' histograms are added by +=.
///
/// Buckets, in nanoseconds:
///   0          below 64, anything negative included
///   1 ... 120  from 64 up to 2^36 (68.7 s): four of equal width for each power of two, so that the
///              upper bound of a bucket is at most a quarter above its lower one:
///              [64, 80) [80, 96) [96, 112) [112, 128) [128, 160) ...
///   121        2^36 and above
struct histogram {
  static constexpr std::size_t buckets = 122;  ///< see above
  /// The number of the last bucket, for what is over all others.
  static constexpr std::size_t over = buckets - 1;

  std::uint64_t counts[buckets] = {};  ///< by bucket
  std::int64_t largest = 0;            ///< exactly; 0 if nothing was counted, or nothing above 0

  /// How many were counted.
  [[nodiscard, gnu::visibility("default")]] std::uint64_t count() const noexcept;

  /// A number that a share of `q` of all counted ones do not exceed: the upper bound of the bucket
  /// in which that share is reached; for the last bucket, `largest`. 0 if nothing was counted.
  /// `q` is from 0 (then it is the bucket of the smallest) to 1.
  [[nodiscard, gnu::visibility("default")]] std::int64_t quantile(double q) const noexcept;

  /// The greatest number that was counted; 0 if none was above 0.
  [[nodiscard]] std::int64_t max() const noexcept { return largest; }

  /// As if both had been counted in one.
  [[gnu::visibility("default")]] histogram& operator+=(const histogram& other) noexcept;

  /// Which bucket counts this number.
  [[nodiscard]] static constexpr std::size_t bucket_of(std::int64_t nanoseconds) noexcept {
    if (nanoseconds < upper_bound(0)) return 0;
    if (nanoseconds >= upper_bound(over - 1)) return over;
    const int power = 63 - __builtin_clzll(static_cast<unsigned long long>(nanoseconds));
    const auto quarter = static_cast<std::size_t>(nanoseconds >> (power - 2)) % 4;
    return (static_cast<std::size_t>(power - 6) * 4) + quarter + 1;
  }

  /// Greater than every number in the bucket, and the least in the next; for the last bucket, the
  /// greatest there is. `bucket` is less than `buckets`.
  [[nodiscard]] static constexpr std::int64_t upper_bound(std::size_t bucket) noexcept {
    if (bucket == over) return INT64_MAX;
    return static_cast<std::int64_t>(4 + (bucket % 4)) << (bucket / 4 + 4);
  }
};

}  // namespace skua::inline SKUA_ABI
