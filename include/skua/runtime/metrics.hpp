// skua/runtime/metrics.hpp: a runtime in numbers.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/driver_info.hpp"
#include "skua/runtime/histogram.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skua::inline SKUA_ABI {

/// Counters of one worker since it started. Each is exact; they are not read at one moment.
struct worker_metrics {
  std::uint64_t polls = 0;          ///< turns given to tasks
  std::uint64_t steals = 0;         ///< times it took work from another worker
  std::uint64_t items_stolen = 0;   ///< how much that was, less what others stole on at once
  std::uint64_t steal_misses = 0;   ///< times it searched all others and found nothing
  std::uint64_t overflows = 0;      ///< times its queue was full and half of it moved
  std::uint64_t injected = 0;       ///< items it took from the shared queue, or its inbox
  std::uint64_t lifo_hits = 0;      ///< items that ran from the slot
  std::uint64_t budget_yields = 0;  ///< tasks that gave way because their turn was used up
  std::uint64_t parks = 0;          ///< times it went to sleep
  std::uint64_t wakes_sent = 0;     ///< times it woke another worker
  std::uint64_t rescues = 0;        ///< times it served another worker, which was stuck
  std::uint64_t busy_ns = 0;        ///< time not asleep, up to the last sleep
  std::size_t queue_depth = 0;      ///< items in its queue now
};

/// What runtime::metrics() gives. Tasks that a handle keeps, but that have ended, are not live.
struct metrics_snapshot {
  std::uint64_t spawned = 0;    ///< since the start
  std::uint64_t ended = 0;      ///< in any way
  std::uint64_t cancelled = 0;  ///< of these, or just about to be: stopped
  std::uint64_t live = 0;       ///< spawned, and not ended yet
  std::uint64_t refused = 0;    ///< spawned from outside when nothing was accepted any more

  std::size_t inject_depth = 0;      ///< items in the shared queue, or in all inboxes, now
  std::uint64_t wakes_sent = 0;      ///< by workers and other threads
  std::uint64_t stalls = 0;          ///< tasks that held a worker: see config::stall_threshold
  std::size_t blocking_threads = 0;  ///< of the pool, now
  std::size_t blocking_idle = 0;     ///< of these: without a call
  std::size_t blocking_depth = 0;    ///< calls that wait for a thread now

  /// How it talks to the kernel.
  backend driver = backend::none;

  std::vector<worker_metrics> workers;  ///< by their numbers

  /// Only with config::histograms: from queued to resumed, and from resumed to suspended.
  histogram schedule_latency;
  histogram run_time;  ///< how long a turn took; see above
};

}  // namespace skua::inline SKUA_ABI
