// src/runtime/histogram_recorder.hpp: one thread counts, any thread takes a copy.
#pragma once

#include "skua/runtime/histogram.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Belongs to one writer, a worker: it loads and stores, and never needs the line to itself for a
/// read-modify-write. Counts only grow.
class histogram_recorder {
public:
  histogram_recorder() = default;
  histogram_recorder(const histogram_recorder&) = delete;
  histogram_recorder& operator=(const histogram_recorder&) = delete;

  /// The writer only.
  void add(std::int64_t nanoseconds) noexcept {
    std::atomic<std::uint64_t>& in_bucket = counts_[histogram::bucket_of(nanoseconds)];
    // order: none; one writer, and a count guards no data.
    in_bucket.store(in_bucket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // order: none; see above.
    if (nanoseconds > largest_.load(std::memory_order_relaxed))
      largest_.store(nanoseconds, std::memory_order_relaxed);
  }

  /// Any thread. What the writer adds meanwhile may be in it, or not, or by its count only.
  [[nodiscard]] histogram snapshot() const noexcept {
    histogram copy;
    for (std::size_t bucket = 0; bucket < histogram::buckets; ++bucket) {
      // order: none; every count is true by itself.
      copy.counts[bucket] = counts_[bucket].load(std::memory_order_relaxed);
    }
    // order: none; see above.
    copy.largest = largest_.load(std::memory_order_relaxed);
    return copy;
  }

private:
  std::atomic<std::uint64_t> counts_[histogram::buckets] = {};
  std::atomic<std::int64_t> largest_{0};
};

}  // namespace skua::inline SKUA_ABI
