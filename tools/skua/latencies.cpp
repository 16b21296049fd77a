// tools/skua/latencies.cpp: how long answers took, counted by many tasks and read by others.
#include "latencies.hpp"

#include <algorithm>

namespace skua_tool {

latency_counts& latency_counts::operator+=(const latency_counts& other) noexcept {
  for (std::size_t i = 0; i < in_bucket.size(); ++i) in_bucket[i] += other.in_bucket[i];
  sum += other.sum;
  largest = std::max(largest, other.largest);
  return *this;
}

std::uint64_t latency_counts::count() const noexcept {
  std::uint64_t all = 0;
  for (const std::uint64_t one : in_bucket) all += one;
  return all;
}

double latency_counts::mean() const noexcept {
  const std::uint64_t all = count();
  return all == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(all);
}

std::int64_t latency_counts::quantile(double q) const noexcept {
  const std::uint64_t all = count();
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < latency_buckets::over && all > 0; ++bucket) {
    seen += in_bucket[bucket];
    // Divided, not multiplied: 7 / 100 is the same double as 0.07, but 0.07 * 100 is more than 7.
    if (seen > 0 && static_cast<double>(seen) / static_cast<double>(all) >= q)
      return std::min(latency_buckets::upper_bound(bucket), largest);
  }
  return largest;
}

void latencies::record(std::int64_t nanoseconds) noexcept {
  const std::int64_t taken = std::max<std::int64_t>(nanoseconds, 0);
  // order: none; these counts tell nothing about anything else
  counts_[latency_buckets::of(taken)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(static_cast<std::uint64_t>(taken), std::memory_order_relaxed);
  // order: none; as above
  std::int64_t before = largest_.load(std::memory_order_relaxed);
  while (taken > before &&
         !largest_.compare_exchange_weak(before, taken, std::memory_order_relaxed)) {
  }
}

latency_counts latencies::snapshot() const noexcept {
  latency_counts seen;
  // order: none; see record()
  for (std::size_t i = 0; i < counts_.size(); ++i)
    seen.in_bucket[i] = counts_[i].load(std::memory_order_relaxed);
  seen.largest = largest_.load(std::memory_order_relaxed);
  seen.sum = sum_.load(std::memory_order_relaxed);
  return seen;
}

}  // namespace skua_tool
