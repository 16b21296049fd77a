// src/runtime/worker_counters.hpp: what a worker counts; it alone writes, anybody reads.
#pragma once

#include "runtime/histogram_recorder.hpp"
#include "skua/base/abi.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// One writer at a time, so that counting needs no read-modify-write.
class counter {
public:
  void add(std::uint64_t more = 1) noexcept {
    // order: none; one writer, and a number that stands for itself.
    count_.store(count_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t read() const noexcept {
    // order: none; see add().
    return count_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint64_t> count_{0};
};

/// See worker_metrics for what each of them counts.
struct worker_counters {
  counter polls, steals, items_stolen, steal_misses, overflows, injected, lifo_hits, budget_yields,
      parks, wakes_sent, rescues, busy_ns, cancelled;
  histogram_recorder schedule_latency, run_time;
};

}  // namespace skua::inline SKUA_ABI
