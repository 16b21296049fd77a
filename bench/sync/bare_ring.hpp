// bench/sync/bare_ring.hpp: what a channel costs at the least: a ring that many may push to.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

/// Bounded, for any number of threads at both ends. Each slot has a number that says whose turn it
/// is: of the one who pushes the n-th value, or of the one who pops it. The ends are counters; who
/// moves one by compare-exchange may use the slot. Nobody ever waits: it is full, or empty.
class bare_ring {
public:
  /// A power of two.
  explicit bare_ring(std::size_t places) : mask_(places - 1), slots_(new slot[places]) {
    for (std::size_t i = 0; i < places; ++i) slots_[i].turn.store(i, std::memory_order_relaxed);
  }

  bool push(unsigned long value) {
    std::size_t at = tail_.load(std::memory_order_relaxed);
    for (;;) {
      slot& mine = slots_[at & mask_];
      const std::size_t turn = mine.turn.load(std::memory_order_acquire);
      if (turn == at) {
        if (!tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
        mine.value = value;
        mine.turn.store(at + 1, std::memory_order_release);
        return true;
      }
      if (turn < at) return false;
      at = tail_.load(std::memory_order_relaxed);
    }
  }

  bool pop(unsigned long& value) {
    std::size_t at = head_.load(std::memory_order_relaxed);
    for (;;) {
      slot& mine = slots_[at & mask_];
      const std::size_t turn = mine.turn.load(std::memory_order_acquire);
      if (turn == at + 1) {
        if (!head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
        value = mine.value;
        mine.turn.store(at + mask_ + 1, std::memory_order_release);
        return true;
      }
      if (turn < at + 1) return false;
      at = head_.load(std::memory_order_relaxed);
    }
  }

private:
  struct slot {
    std::atomic<std::size_t> turn;
    unsigned long value = 0;
  };

  const std::size_t mask_;
  std::unique_ptr<slot[]> slots_;
  alignas(64) std::atomic<std::size_t> tail_ = 0;
  alignas(64) std::atomic<std::size_t> head_ = 0;
};
