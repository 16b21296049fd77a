// src/sched/inject_queue.hpp: the shared queue: work from outside, and what overflows.
#pragma once

#include "sched/work_block.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI {

/// A list under a mutex, first in, first out, used by any thread. The length can be read without
/// the mutex, so that looking at an empty queue costs one load. What overflows comes in blocks,
/// which the list has among its items; what comes one by one while `Few` are there already is put
/// into such a block, too, if there is a spare one.
template <typename Atomics, typename Mutex = std::mutex, std::size_t Few = 8>
class inject_queue {
public:
  inject_queue() = default;
  inject_queue(const inject_queue&) = delete;
  inject_queue& operator=(const inject_queue&) = delete;
  ~inject_queue() { free_all(spare_); }

  /// False if the queue is closed; the item is then still the caller's. Touches the queue after
  /// the item may have been run: the caller keeps it alive.
  [[nodiscard]] bool push(work& item) noexcept {
    bool lacks_block = false;
    {
      const std::lock_guard hold(mutex_);
      if (closed_) return false;
      if (count_ >= Few) lacks_block = !open_block();
      append(item);
    }
    if (lacks_block) make_spare();
    return true;
  }

  /// All of `batch`, in order, also if the queue is closed: what was accepted once is not lost.
  void push_batch(work_queue& batch) noexcept {
    const std::lock_guard hold(mutex_);
    const std::size_t more = batch.size();
    open_ = nullptr;
    items_.append(batch);
    set_length(count_ + more);
  }

  /// An empty block, to be given back by push_block(); null if there is no memory for one.
  [[nodiscard]] work_block* take_block() noexcept {
    {
      const std::lock_guard hold(mutex_);
      if (work* const kept = spare_.pop_front()) return static_cast<work_block*>(kept);
    }
    return new (std::nothrow) work_block;
  }

  /// What is in it, as push_batch() does. It may be empty. One item alone is taken out: a block for
  /// each of many that come like that would be much.
  void push_block(work_block& block) noexcept {
    work_queue unused;
    {
      const std::lock_guard hold(mutex_);
      if (block.size() <= 1) {
        work* lone = nullptr;
        if (block.take({&lone, 1}) == 1) append(*lone);
        keep(block, unused);
      } else {
        open_ = nullptr;
        items_.push_back(block);
        set_length(count_ + block.size());
      }
    }
    free_all(unused);
  }

  /// The oldest item; null if there is none.
  [[nodiscard]] work* pop() noexcept {
    work* one = nullptr;
    static_cast<void>(pop_batch({&one, 1}));
    return one;
  }

  /// Moves the oldest items to `to`, as many as there is room for; returns how many.
  [[nodiscard]] std::size_t pop_batch(std::span<work*> to) noexcept {
    if (size() == 0) return 0;
    work_queue unused;
    std::size_t count = 0;
    {
      const std::lock_guard hold(mutex_);
      while (count < to.size() && !items_.empty()) count += take_first(to.subspan(count), unused);
      set_length(count_ - count);
    }
    free_all(unused);
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
  static constexpr std::size_t most_spare = 32;

  void set_length(std::size_t length) noexcept {
    count_ = length;
    // order: none; see size().
    length_.store(length, std::memory_order_relaxed);
  }

  void append(work& item) noexcept {
    if (open_ == nullptr) {
      items_.push_back(item);
    } else {
      open_->push_back(item);
      if (!open_->has_room()) open_ = nullptr;
    }
    set_length(count_ + 1);
  }

  /// There is a block at the end that has room. False if none is to be had.
  bool open_block() noexcept {
    if (open_ != nullptr) return true;
    if (spare_.empty()) return false;
    open_ = static_cast<work_block*>(spare_.pop_front());
    items_.push_back(*open_);
    return true;
  }

  /// For the next who lacks one; made while nobody has to wait for that.
  void make_spare() noexcept {
    if (auto* const made = new (std::nothrow) work_block) push_block(*made);
  }

  /// There is one. A block that is empty afterwards is kept, or goes to `unused`.
  std::size_t take_first(std::span<work*> to, work_queue& unused) noexcept {
    if (!work_block::is(*items_.front())) {
      to.front() = items_.pop_front();
      return 1;
    }
    auto& block = static_cast<work_block&>(*items_.front());
    const std::size_t count = block.take(to);
    if (!block.empty()) return count;
    if (open_ == &block) open_ = nullptr;
    keep(static_cast<work_block&>(*items_.pop_front()), unused);
    return count;
  }

  void keep(work_block& empty, work_queue& unused) noexcept {
    (spare_.size() < most_spare ? spare_ : unused).push_front(empty);  // it is warm
  }

  static void free_all(work_queue& blocks) noexcept {
    while (work* const one = blocks.pop_front()) delete static_cast<work_block*>(one);
  }

  Mutex mutex_;
  // Under the mutex.
  work_queue items_;            // and blocks of items
  work_block* open_ = nullptr;  // the last of those, if single items are put in there
  work_queue spare_;            // empty blocks
  std::size_t count_ = 0;       // of items
  bool closed_ = false;
  typename Atomics::template atomic<std::size_t> length_{0};
};

}  // namespace skua::inline SKUA_ABI
