// src/sched/inject_queue.hpp: the shared queue: work from outside, and what overflows.
#pragma once

#include "skua/base/check.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

namespace skua::inline SKUA_ABI {

/// A list under a mutex, first in, first out, used by any thread. The length can be read without
/// the mutex, so that looking at an empty queue costs one load.
template <typename Atomics, typename Mutex = std::mutex>
class inject_queue {
public:
  inject_queue() = default;
  inject_queue(const inject_queue&) = delete;
  inject_queue& operator=(const inject_queue&) = delete;

  /// False if the queue is closed; the item is then still the caller's.
  [[nodiscard]] bool push(work& item) noexcept {
    const std::lock_guard hold(mutex_);
    if (closed_) return false;
    items_.push_back(item);
    publish_length();
    return true;
  }

  /// All of `batch`, in order, also if the queue is closed: what was accepted once is not lost.
  void push_batch(work_queue& batch) noexcept {
    const std::lock_guard hold(mutex_);
    items_.append(batch);
    publish_length();
  }

  /// The oldest item; null if there is none.
  [[nodiscard]] work* pop() noexcept {
    if (size() == 0) return nullptr;
    const std::lock_guard hold(mutex_);
    if (items_.empty()) return nullptr;
    work* const first = items_.pop_front();
    publish_length();
    return first;
  }

  /// Moves the oldest items, at most `most`, to the end of `to`; returns how many.
  std::size_t pop_batch(std::size_t most, work_queue& to) noexcept {
    if (size() == 0) return 0;
    const std::lock_guard hold(mutex_);
    const std::size_t count = std::min(most, items_.size());
    for (std::size_t i = 0; i < count; ++i) to.push_back(*items_.pop_front());
    publish_length();
    return count;
  }

  /// From now on push() refuses. True for the first to close. What is in the queue stays.
  bool close() noexcept {
    const std::lock_guard hold(mutex_);
    return !std::exchange(closed_, true);
  }

  /// Without the mutex: may be out of date, unless the caller is ordered after the last change by
  /// other means (a sleeper rechecks after it has announced itself).
  [[nodiscard]] std::size_t size() const noexcept {
    // order: none; items are reached under the mutex only.
    return length_.load(std::memory_order_relaxed);
  }

private:
  void publish_length() noexcept {
    // order: none; see size().
    length_.store(items_.size(), std::memory_order_relaxed);
  }

  Mutex mutex_;
  work_queue items_;     // under the mutex
  bool closed_ = false;  // under the mutex
  typename Atomics::template atomic<std::size_t> length_{0};
};

}  // namespace skua::inline SKUA_ABI
