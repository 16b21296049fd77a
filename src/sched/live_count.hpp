// src/sched/live_count.hpp: how many tasks of a scope are alive, without a shared counter.
#pragma once

#include "skua/base/cache_line.hpp"
#include "skua/base/check.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace skua::inline SKUA_ABI {

/// How many tasks of a scope are alive, without a shared counter: `spawned` and `ended` for each
/// *lane*, which only grow. There is a lane for each worker, and one that all other threads share.
///
/// A task is counted as spawned before it can run, and as ended by the last thing that it does to
/// the scope; a task is spawned by one that is alive, or by whoever waits (or is ordered before
/// it).
///
/// Waiting: watch(), then sleep until quiet(), then unwatch(). An end counts and then looks for
/// watchers; a waiter announces itself and then looks at the counts. One of the two sees the other:
/// not by the orders of the words, which would cost each end a fence, but by the `Barrier`:
///   heavy()  of the waiter: comes, as one, before or after each light() of every other thread;
///   light()  of the ender: a compiler fence. What precedes the one that comes first is visible
///            after the other.
///
/// The object is kept for another scope and outlives all threads that use it: an ender still reads
/// it after the waiter may have seen its end. So what ended() answers may be meant for the next
/// scope's waiter, or for one that has gone: telling a waiter too often must be harmless, and whom
/// to tell must be fixed or atomic, since the next waiter may be writing it.
template <typename Atomics, typename Barrier>
class live_count {
public:
  /// All counts are equal. One lane more than `own_lanes`.
  explicit live_count(std::size_t own_lanes)
      : own_lanes_(own_lanes), lanes_(std::make_unique<lane_counts[]>(own_lanes + 1)) {}
  live_count(const live_count&) = delete;
  live_count& operator=(const live_count&) = delete;

  /// The lane for every thread that has none of its own.
  [[nodiscard]] std::size_t shared_lane() const noexcept { return own_lanes_; }

  /// Before the task can run. By the owner of `lane`, or by any thread for the shared lane.
  void spawned(std::size_t lane) noexcept {
    // order: none; the end of the task, or of the task that spawned it, carries this along.
    add_one(lane, &lane_counts::spawned, std::memory_order_relaxed);
  }

  /// By the owner of `lane`, or by any thread for the shared lane. True: somebody watches, tell
  /// them. From here on the caller touches only what outlives the scope.
  [[nodiscard]] bool ended(std::size_t lane) noexcept {
    // order: [live.end] release: all that the task did, the spawns of its children included.
    add_one(lane, &lane_counts::ended, std::memory_order_release);
    Barrier::light();
    // order: [live.watch] acquire: what the waiter set up to be told.
    return watchers_.load(std::memory_order_acquire) != 0;
  }

  /// Waiter: from now on ended() says so. There may be several.
  void watch() noexcept {
    // order: [live.watch] release: what the waiter set up to be told.
    watchers_.fetch_add(1, std::memory_order_release);
    Barrier::heavy();
  }

  /// Waiter: no longer. An end that is on its way may still say so.
  void unwatch() noexcept {
    // order: none; being told too often is harmless.
    const std::uint32_t before = watchers_.fetch_sub(1, std::memory_order_relaxed);
    check(before > 0, "who stops watching has watched");
  }

  /// Any thread: true if there was a moment during this call at which nobody was alive; all that
  /// the ended tasks did happens before its return. The ends are read first: if the spawns were,
  /// a task could spawn another and end in between, and its end stand for the other's.
  [[nodiscard]] bool quiet() const noexcept {
    const std::uint64_t gone = total_ended();
    return gone == total_spawned();
  }

  [[nodiscard]] std::uint64_t total_spawned() const noexcept {
    std::uint64_t sum = 0;
    // order: none; see spawned().
    for (std::size_t i = 0; i <= own_lanes_; ++i)
      sum += lanes_[i].spawned.load(std::memory_order_relaxed);
    return sum;
  }

  /// For the number alive, ask for this one first and subtract it from total_spawned().
  [[nodiscard]] std::uint64_t total_ended() const noexcept {
    std::uint64_t sum = 0;
    // order: [live.end] acquire: all that the ended tasks did, the spawns of their children
    // included.
    for (std::size_t i = 0; i <= own_lanes_; ++i)
      sum += lanes_[i].ended.load(std::memory_order_acquire);
    return sum;
  }

private:
  using count = typename Atomics::template atomic<std::uint64_t>;
  struct alignas(interference_distance) lane_counts {
    count spawned{0};
    count ended{0};
  };

  void add_one(std::size_t index, count lane_counts::* which, std::memory_order order) noexcept {
    if (index < own_lanes_) {
      count& own = lanes_[index].*which;
      // order: none; only the owner of the lane writes it. The store: see the callers.
      own.store(own.load(std::memory_order_relaxed) + 1, order);
    } else {
      check(index == own_lanes_, "a lane has a number up to the shared lane's");
      (lanes_[index].*which).fetch_add(1, order);
    }
  }

  // Read by every end, written by waiters only.
  alignas(interference_distance) typename Atomics::template atomic<std::uint32_t> watchers_{0};
  const std::size_t own_lanes_;
  const std::unique_ptr<lane_counts[]> lanes_;
};

}  // namespace skua::inline SKUA_ABI
