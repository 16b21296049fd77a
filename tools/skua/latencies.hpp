// tools/skua/latencies.hpp: how long answers took, counted by one task and read by others.
#pragma once

#include <skua/runtime/histogram.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace skua_tool {

/// A copy of what was counted.
struct latency_counts {
  skua::histogram counts;
  std::uint64_t sum = 0;  // nanoseconds

  latency_counts& operator+=(const latency_counts& other) noexcept;

  [[nodiscard]] double mean() const noexcept;
  /// As histogram::quantile(), but never above the largest.
  [[nodiscard]] std::int64_t quantile(double q) const noexcept;
};

/// One task at a time records; anybody may take a snapshot meanwhile. Each count is exact, but they
/// are not read at one moment.
class latencies {
public:
  void record(std::int64_t nanoseconds) noexcept;
  [[nodiscard]] latency_counts snapshot() const noexcept;

private:
  std::array<std::atomic<std::uint64_t>, skua::histogram::buckets> counts_{};
  std::atomic<std::uint64_t> sum_ = 0;
  std::atomic<std::int64_t> largest_ = 0;
};

/// For a counter that only one task changes: cheaper than an exchange.
template <typename Number>
void add_alone(std::atomic<Number>& counter, Number amount) noexcept {
  // order: none; a count tells nothing about anything else
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

}  // namespace skua_tool
