// src/sched/lifo_deque.hpp: a worker's queue for fork-join: newest first, the oldest for thieves.
#pragma once

#include "skua/base/cache_line.hpp"
#include "skua/base/check.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace skua::inline SKUA_ABI {

/// The deque of Chase and Lev. The *owner* pushes and pops at the bottom, last in, first out; any
/// number of *thieves* take from the top, the oldest first, one at a time. The owner may be a thief
/// of its own.
///
/// `top_`: the oldest item. It only grows, by an exchange of whoever takes that item; so whoever
/// saw an old top takes nothing. `bottom_`: where the owner writes next; only the owner changes it.
/// Items from `top` to `bottom` are in the deque, each at its number modulo the buffer's size. The
/// numbers are 64 bits wide and do not come round.
///
/// The owner takes an item by lowering the bottom, without an exchange, unless it is the last one.
/// It lowers the bottom and then looks at the top; a thief looks at the top and then at the bottom.
/// Of two that come for one item at least one must see the other: either the thief that the bottom
/// was lowered, or the owner how far the top was when the thief looked. That is not by the orders
/// of the words, which would cost the owner an exchange for every item, but by the `Barrier`, see
/// live_count: thieves of a tree come seldom.
///
/// A full buffer is replaced by one of twice the size. A thief may be looking into the old one for
/// any time: it is not written to any more, and kept until the deque dies. All old ones together
/// are smaller than the one in use, and there is a largest size: what does not fit goes elsewhere.
template <typename Atomics, typename Barrier, std::uint32_t First = 256,
          std::uint32_t Most = 65'536>
class lifo_deque {
  static_assert((First & (First - 1)) == 0 && (Most & (Most - 1)) == 0, "powers of two");
  static_assert(First >= 1 && First <= Most, "it grows");

public:
  /// Throws std::bad_alloc.
  lifo_deque() : newest_(new buffer(First)), buffer_(newest_.get()) {
    if (!newest_->made()) throw std::bad_alloc();
  }
  lifo_deque(const lifo_deque&) = delete;
  lifo_deque& operator=(const lifo_deque&) = delete;
  ~lifo_deque() { check(size() == 0, "a deque dies empty"); }

  /// Owner: adds `item`; to `overflow` if the deque is as large as it may be, or there is no memory
  /// for a larger one.
  void push(work& item, work_queue& overflow) noexcept {
    // order: none; only the owner changes the bottom.
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    // order: [deque.taken] acquire: the thief has read the slot that is written again here.
    const std::int64_t top = top_.load(std::memory_order_acquire);
    buffer* into = newest_.get();
    if (bottom - top >= into->size()) {
      into = grow(top, bottom);
      if (into == nullptr) return overflow.push_back(item);
    }
    // order: none; the bottom carries it, and a thief that finds a later one here fails.
    into->at(bottom).store(&item, std::memory_order_relaxed);
    // order: [deque.push] release: the item and its slot, to the thief.
    bottom_.store(bottom + 1, std::memory_order_release);
  }

  /// Owner: takes the newest item; null if there is none.
  [[nodiscard]] work* pop() noexcept {
    // order: none; only the owner changes the bottom.
    const std::int64_t last = bottom_.load(std::memory_order_relaxed) - 1;
    // order: none; what is taken stays so: an empty deque is empty until the owner pushes.
    if (top_.load(std::memory_order_relaxed) > last) return nullptr;
    // order: [deque.push] release: a thief may learn from it that there are older ones.
    bottom_.store(last, std::memory_order_release);
    Barrier::light();
    // order: none; the barrier keeps it behind the bottom.
    std::int64_t top = top_.load(std::memory_order_relaxed);
    if (top < last) return newest_->read(last);
    // The last one: whoever moves the top has it.
    // order: none; the item is the owner's own, and the exchange decides.
    const bool mine =
        top == last && top_.compare_exchange_strong(top, last + 1, std::memory_order_relaxed,
                                                    std::memory_order_relaxed);
    // order: [deque.push] release: as above; who reads this finds nothing, or fails at the top.
    bottom_.store(last + 1, std::memory_order_release);
    return mine ? newest_->read(last) : nullptr;
  }

  /// Owner: takes `item` if it is the newest. False if it is not, or if a thief has it.
  [[nodiscard]] bool take_newest(const work& item) noexcept {
    // order: none; only the owner changes the bottom.
    const std::int64_t last = bottom_.load(std::memory_order_relaxed) - 1;
    // What a slot held before it was taken is there still: pop() knows whether it was.
    return newest_->read(last) == &item && pop() != nullptr;
  }

  /// Anybody: takes the oldest item; null if there is none. Fails only if others took them all, or
  /// at the moment at which the kernel stops to help the barrier. Interrupts all threads of the
  /// process for a moment, unless there is nothing.
  [[nodiscard]] work* steal() noexcept {
    for (;;) {
      // order: none; the barrier keeps it before the bottom. If others move it on meanwhile the
      //        exchange fails.
      std::int64_t top = top_.load(std::memory_order_relaxed);
      // order: none; a guess, to do without the barrier. Who was told of an item sees it.
      if (top >= bottom_.load(std::memory_order_relaxed) || !Barrier::heavy()) return nullptr;
      // order: [deque.push] acquire: the slots up to here.
      const std::int64_t bottom = bottom_.load(std::memory_order_acquire);
      if (top >= bottom) return nullptr;
      // order: [deque.grow] acquire: what was copied into it.
      work* const oldest = buffer_.load(std::memory_order_acquire)->read(top);
      // order: [deque.taken] release: the slot has been read.
      if (top_.compare_exchange_strong(top, top + 1, std::memory_order_release,
                                       std::memory_order_relaxed))
        return oldest;
    }
  }

  /// Any thread; a guess unless the owner asks, and is told none.
  [[nodiscard]] std::uint32_t size() const noexcept {
    // order: none; a guess. The top first: it passes the bottom by one at most.
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    // order: none; a guess.
    const std::int64_t length = bottom_.load(std::memory_order_relaxed) - top;
    return length > 0 ? static_cast<std::uint32_t>(length) : 0;
  }

private:
  using slot = typename Atomics::template atomic<work*>;

  class buffer {
  public:
    /// Without slots if there is no memory for them.
    explicit buffer(std::uint32_t size) noexcept : slots_(new(std::nothrow) slot[size]) {
      mask_.write(size - 1);
    }

    [[nodiscard]] bool made() const noexcept { return slots_ != nullptr; }
    [[nodiscard]] std::int64_t size() const noexcept { return std::int64_t{mask_.read()} + 1; }
    [[nodiscard]] slot& at(std::int64_t index) noexcept {
      const std::uint64_t place = static_cast<std::uint64_t>(index) & mask_.read();
      return slots_[place];
    }
    [[nodiscard]] work* read(std::int64_t index) noexcept {
      // order: none; the top or the bottom was read before, and carries it.
      return at(index).load(std::memory_order_relaxed);
    }
    void copy(buffer& from, std::int64_t first, std::int64_t end) noexcept {
      for (std::int64_t i = first; i < end; ++i)
        // order: none; the buffer is not published yet.
        at(i).store(from.read(i), std::memory_order_relaxed);
    }

    std::unique_ptr<buffer> older;

  private:
    std::unique_ptr<slot[]> slots_;
    typename Atomics::template plain<std::uint32_t> mask_;
  };

  /// Owner: the buffer to use from now on; null if there is none.
  buffer* grow(std::int64_t top, std::int64_t bottom) noexcept {
    if (newest_->size() >= Most) return nullptr;
    const auto twice = static_cast<std::uint32_t>(2 * newest_->size());
    std::unique_ptr<buffer> bigger(new (std::nothrow) buffer(twice));
    if (bigger == nullptr || !bigger->made()) return nullptr;
    bigger->copy(*newest_, top, bottom);
    bigger->older = std::move(newest_);
    newest_ = std::move(bigger);
    // order: [deque.grow] release: the items that were copied.
    buffer_.store(newest_.get(), std::memory_order_release);
    return newest_.get();
  }

  alignas(interference_distance) typename Atomics::template atomic<std::int64_t> top_{0};
  alignas(interference_distance) typename Atomics::template atomic<std::int64_t> bottom_{0};
  std::unique_ptr<buffer> newest_;  // the owner's
  typename Atomics::template atomic<buffer*> buffer_;
};

}  // namespace skua::inline SKUA_ABI
