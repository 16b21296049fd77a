// tools/skua/latencies.cpp: how long answers took, counted by one task and read by others.
#include "latencies.hpp"

#include <algorithm>
#include <cstddef>

namespace skua_tool {

latency_counts& latency_counts::operator+=(const latency_counts& other) noexcept {
  counts += other.counts;
  sum += other.sum;
  return *this;
}

double latency_counts::mean() const noexcept {
  const std::uint64_t all = counts.count();
  return all == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(all);
}

std::int64_t latency_counts::quantile(double q) const noexcept {
  return std::min(counts.quantile(q), counts.max());
}

void latencies::record(std::int64_t nanoseconds) noexcept {
  const std::int64_t taken = std::max<std::int64_t>(nanoseconds, 0);
  add_alone(counts_[skua::histogram::bucket_of(taken)], std::uint64_t{1});
  add_alone(sum_, static_cast<std::uint64_t>(taken));
  // order: none; only this task writes, and a reader wants nothing but the number
  if (taken > largest_.load(std::memory_order_relaxed))
    largest_.store(taken, std::memory_order_relaxed);
}

latency_counts latencies::snapshot() const noexcept {
  latency_counts seen;
  // order: none; see record()
  for (std::size_t i = 0; i < counts_.size(); ++i)
    seen.counts.counts[i] = counts_[i].load(std::memory_order_relaxed);
  seen.counts.largest = largest_.load(std::memory_order_relaxed);
  seen.sum = sum_.load(std::memory_order_relaxed);
  return seen;
}

}  // namespace skua_tool
