// src/runtime/histogram.cpp: sums over the buckets.
#include "skua/runtime/histogram.hpp"

#include "skua/base/check.hpp"

#include <algorithm>

namespace skua::inline SKUA_ABI {

std::uint64_t histogram::count() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t in_bucket : counts) sum += in_bucket;
  return sum;
}

std::int64_t histogram::quantile(double q) const noexcept {
  check(q >= 0 && q <= 1, "a quantile is from 0 to 1");
  const std::uint64_t all = count();
  if (all == 0) return 0;
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < over; ++bucket) {
    seen += counts[bucket];
    // Divided, not multiplied: 7 / 100 is the same double as 0.07, but 0.07 * 100 is more than 7.
    if (seen > 0 && static_cast<double>(seen) / static_cast<double>(all) >= q)
      return upper_bound(bucket);
  }
  // A copy taken while somebody counts may have the count but not yet its number.
  return std::max(largest, upper_bound(over - 1));
}

histogram& histogram::operator+=(const histogram& other) noexcept {
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) counts[bucket] += other.counts[bucket];
  largest = std::max(largest, other.largest);
  return *this;
}

}  // namespace skua::inline SKUA_ABI
