// src/sched/idle.hpp: who sleeps, who searches, and whom to wake.
#pragma once

#include "skua/base/check.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace skua::inline SKUA_ABI {

/// States of a worker:
///   running    has work, or looks at its own queues.
///   searching  has none of its own and looks at the others'. At most half of the workers search.
///   parked     sleeps, or is about to; it is on the list of sleepers.
/// A worker that gets parked *announces* it here first, looks at the queues once more if park()
/// says so, and then sleeps.
///
/// Nothing is lost: whoever adds work looks here afterwards, by a read-modify-write of the same
/// word by which a worker announces its sleep; a worker that adds to its own queue may do so when
/// its turn is over, since what is there is its own to run. One of the two comes first. If the
/// worker does, the adder sees it asleep; if the adder does, the worker sees the work when it looks
/// once more. (A plain load would not do: it may see a value from before.) If somebody searches,
/// the adder wakes nobody: the last searcher either finds work, and then wakes another before it
/// runs it, or gives up and looks once more.
///
/// Any worker that parks while nobody searches looks once more, not only one that searched itself:
/// the last searcher may have found work, and found nobody to wake, just before this one announced
/// its sleep. Its own work may be long, and what else was added would wait for it.
///
/// One word holds both counts: unparked workers << 16 | searching workers.
template <typename Atomics, typename Mutex = std::mutex>
class idle {
public:
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::size_t workers_max = 0xffff;

  /// All workers run.
  explicit idle(std::size_t workers)
      : workers_(workers), counts_(static_cast<std::uint32_t>(workers) * unparked_one) {
    check(workers > 0 && workers <= workers_max, "there is at least one worker, at most 65,535");
    sleepers_.reserve(workers);
  }
  idle(const idle&) = delete;
  idle& operator=(const idle&) = delete;

  /// Whoever has just added work that any worker may run: the worker to wake, or `none`. The one
  /// returned counts as searching from now on; the caller wakes it for certain. From any thread.
  [[nodiscard]] std::size_t worker_to_wake() noexcept {
    // order: [idle.announce] release: the work that was added, to the worker that parks after this.
    if (!worth_waking(counts_.fetch_add(0, std::memory_order_release))) return none;
    const std::lock_guard hold(mutex_);
    // order: none; the list and the counts of sleepers change under the mutex.
    if (!worth_waking(counts_.load(std::memory_order_relaxed))) return none;
    // order: none; the woken worker is told by other means, which order.
    counts_.fetch_add(unparked_one | 1, std::memory_order_relaxed);
    const std::size_t woken = sleepers_.back();  // the last to sleep has the warmest cache
    sleepers_.pop_back();
    return woken;
  }

  /// A guess, for work that somebody runs in any case: is it worth asking worker_to_wake()?
  [[nodiscard]] bool may_wake() const noexcept {
    // order: none; a guess.
    return worth_waking(counts_.load(std::memory_order_relaxed));
  }

  /// A guess: is there a worker that sleeps, or searches?
  [[nodiscard]] bool some_lack_work() const noexcept {
    // order: none; a guess.
    const std::uint32_t counts = counts_.load(std::memory_order_relaxed);
    return searching(counts) != 0 || (counts >> 16) < workers_;
  }

  /// A worker without work: may it search? Then it counts as searching.
  [[nodiscard]] bool try_search() noexcept {
    // order: none; the bound on searchers saves work, it protects nothing.
    if (2 * searching(counts_.load(std::memory_order_relaxed)) >= workers_) return false;
    // order: none; see stop_searching().
    counts_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  /// A searching worker that found work. True if it was the last one searching: it then wakes
  /// another (worker_to_wake()) before it runs what it found, if there is more.
  [[nodiscard]] bool stop_searching() noexcept {
    // order: [idle.announce] release: what is left of the work it found, to the worker that parks
    //        after this. [idle.announce] acquire: work that was added before this, by those who
    //        relied on the search.
    return searching(counts_.fetch_sub(1, std::memory_order_acq_rel)) == 1;
  }

  /// A worker about to sleep announces it. True if it must look at all queues once more before it
  /// does: nobody searches any more.
  [[nodiscard]] bool park(std::size_t worker, bool is_searching) noexcept {
    const std::lock_guard hold(mutex_);
    sleepers_.push_back(worker);
    // order: [idle.announce] acquire: work that was added before this, for the look that follows.
    const std::uint32_t leaves = unparked_one | (is_searching ? 1 : 0);
    return searching(counts_.fetch_sub(leaves, std::memory_order_acquire) - leaves) == 0;
  }

  /// A worker that woke, or found work when it looked once more. True if it leaves on its own
  /// account and is running now; false if somebody woke it meanwhile: then it is searching.
  [[nodiscard]] bool unpark(std::size_t worker) noexcept {
    const std::lock_guard hold(mutex_);
    const auto found = std::ranges::find(sleepers_, worker);
    if (found == sleepers_.end()) return false;
    sleepers_.erase(found);
    // order: none; counts of sleepers change under the mutex.
    counts_.fetch_add(unparked_one, std::memory_order_relaxed);
    return true;
  }

private:
  static constexpr std::uint32_t unparked_one = 1U << 16;

  static std::uint32_t searching(std::uint32_t counts) noexcept { return counts & 0xffff; }
  [[nodiscard]] bool worth_waking(std::uint32_t counts) const noexcept {
    return searching(counts) == 0 && (counts >> 16) < workers_;
  }

  const std::size_t workers_;
  typename Atomics::template atomic<std::uint32_t> counts_;
  Mutex mutex_;
  std::vector<std::size_t> sleepers_;  // under the mutex
};

}  // namespace skua::inline SKUA_ABI
