// src/sched/local_queue.hpp: a worker's own queue: a ring that one thief at a time may halve.
#pragma once

#include "skua/base/cache_line.hpp"
#include "skua/base/check.hpp"
#include "skua/base/work.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace skua::inline SKUA_ABI {

/// Fixed ring, first in, first out; the owner may also take back what it pushed last. The *owner*
/// pushes and pops; any *thief* (the owner of another queue of this type) steals.
///
/// `tail_`: where the owner writes next. Only the owner changes it.
/// `head_`: two cursors in one word, (steal, real):
///   steal == real  nobody steals.
///   steal != real  a thief copies the items from `steal` up to `real`; they are its own already,
///   but
///                  their slots must not be written again. A second thief gives up at once.
/// Items from `real` to `tail` are in the queue. The cursors are 32 bits wide and only grow, so
/// that none can come round while somebody sleeps on an old value.
///
/// Beside them stands how often the tail went back since `real` moved last. A thief looks at the
/// head, then at the tail, and has what it claims only if the head is still the same: so it has
/// nothing that was taken back meanwhile. That count must not come round either while `real` stands
/// still: when it is at its end nothing is taken back until an item is taken from the other side.
///
/// `BackBits`: of that count. Models have fewer.
template <typename Atomics, std::uint32_t Capacity = 256, unsigned BackBits = 22>
class local_queue {
  static_assert((Capacity & (Capacity - 1)) == 0 && Capacity >= 2, "a power of two");
  static_assert(Capacity <= 512, "the distance of the cursors has ten bits");
  static_assert(BackBits <= 22, "what cursor and distance leave for the count");

public:
  static constexpr std::uint32_t capacity = Capacity;

  local_queue() = default;
  local_queue(const local_queue&) = delete;
  local_queue& operator=(const local_queue&) = delete;
  ~local_queue() {
    // order: none; a destructor has no concurrent callers.
    const cursors head = unpack(head_.load(std::memory_order_relaxed));
    // order: none; see above.
    check(head.real == tail_.load(std::memory_order_relaxed), "a local queue dies empty");
  }

  /// Owner: appends `item`. False if there is no room.
  [[nodiscard]] bool try_push(work& item) noexcept {
    // order: none; only the owner changes the tail.
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    // order: [queue.copied] acquire: the thief is done with the slots before `steal`.
    const cursors head = unpack(head_.load(std::memory_order_acquire));
    // Against `steal`, not `real`: a thief may still be copying what lies between.
    const bool has_room = tail - head.steal < Capacity;
    if (!has_room) return false;
    slot(tail).write(&item);
    // order: [queue.push] release: the item and its slot, to the thief.
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// Owner: appends `item`. If there is no room, moves the older half and `item` to `overflow`, in
  /// order; if a thief is about to make room, only `item`. `overflow`: a work_queue or a
  /// work_block.
  template <typename Overflow>
  void push(work& item, Overflow& overflow) noexcept {
    while (!try_push(item)) {
      // order: none; the exchange of take_half() decides.
      const std::uint64_t seen = head_.load(std::memory_order_relaxed);
      const cursors head = unpack(seen);
      // order: none; only the owner changes the tail.
      if (tail_.load(std::memory_order_relaxed) - head.steal < Capacity) continue;  // a thief came
      if (head.steal != head.real) return overflow.push_back(item);
      if (take_half(seen, overflow)) return overflow.push_back(item);
    }
  }

  /// Owner: appends the first of `items`, as many as there is room for; returns how many.
  std::uint32_t push_some(std::span<work* const> items) noexcept {
    // order: none; only the owner changes the tail.
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    // order: [queue.copied] acquire: as in try_push().
    const cursors head = unpack(head_.load(std::memory_order_acquire));
    const std::uint32_t room = Capacity - (tail - head.steal);
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(items.size(), room));
    for (std::uint32_t i = 0; i < count; ++i) slot(tail + i).write(items[i]);
    // order: [queue.push] release: the items and their slots, to the thief.
    tail_.store(tail + count, std::memory_order_release);
    return count;
  }

  /// Owner: takes the oldest item; null if there is none.
  [[nodiscard]] work* pop() noexcept { return pop_and_peek(0).item; }

  /// What pop_and_peek() gives.
  struct popped {
    work* item;
    /// A thief may have taken it meanwhile: it is not to be used, but for bringing it into the
    /// cache.
    const work* later;
  };

  /// Owner: the same, and the item that is so many behind it; null if there is none.
  [[nodiscard]] popped pop_and_peek(std::uint32_t behind) noexcept {
    // order: none; only the owner changes the tail.
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    // order: none; the exchange below decides, and the slots are the owner's own writes.
    std::uint64_t seen = head_.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint32_t first = real_of(seen);
      if (first == tail) return {nullptr, nullptr};
      // order: none; a thief that pairs this head with an older tail finds an impossible length.
      if (head_.compare_exchange_weak(seen, behind_first(seen), std::memory_order_relaxed,
                                      std::memory_order_relaxed))
        return popped_at(first, tail, behind);
    }
  }

  /// The same where nobody steals, ever: without an exchange.
  [[nodiscard]] popped pop_unshared(std::uint32_t behind) noexcept {
    // order: none; nobody else changes either.
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint32_t first = real_of(head_.load(std::memory_order_relaxed));
    if (first == tail) return {nullptr, nullptr};
    // Nobody asks how often the tail went back.
    // order: none; see above.
    head_.store(pack(first + 1, first + 1, 0), std::memory_order_relaxed);
    return popped_at(first, tail, behind);
  }

  /// Owner: takes `item` if it is the oldest. False if it is not, or if a thief came.
  [[nodiscard]] bool take_oldest(const work& item) noexcept {
    // order: none; the exchange below decides, and the slots are the owner's own writes.
    std::uint64_t seen = head_.load(std::memory_order_relaxed);
    const std::uint32_t first = real_of(seen);
    // order: none; only the owner changes the tail.
    if (first == tail_.load(std::memory_order_relaxed)) return false;
    if (slot(first).read() != &item) return false;
    // order: none; as in pop_and_peek().
    return head_.compare_exchange_strong(seen, behind_first(seen), std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }

  /// Owner: takes `item` back if it is the newest. False if it is not, or if a thief has it.
  [[nodiscard]] bool take_newest(const work& item) noexcept {
    // order: none; the exchange below decides, and the slots are the owner's own writes.
    std::uint64_t seen = head_.load(std::memory_order_relaxed);
    // order: none; only the owner changes the tail.
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    if (unpack(seen).real == tail || slot(tail - 1).read() != &item) return false;
    if (unpack(seen).went_back == most_back) return false;
    // Before the exchange: whoever sees the new head sees this tail, too.
    // order: [queue.push] release: a thief may learn from it of older items.
    tail_.store(tail - 1, std::memory_order_release);
    while (unpack(seen).real != tail) {
      // order: [queue.back] release: the tail.
      if (head_.compare_exchange_weak(seen, after_going_back(unpack(seen)),
                                      std::memory_order_release, std::memory_order_relaxed))
        return true;
    }
    // A thief came first, and claimed all there was: until now it looked like less than nothing.
    // order: none; there is nothing to be seen.
    tail_.store(tail, std::memory_order_relaxed);
    return false;
  }

  /// Thief, the owner of `mine`: moves half of this queue there, rounded up, and returns the oldest
  /// of it instead, to be run at once. Null if there is nothing, if another thief is at it, or if
  /// `mine` is more than half full.
  [[nodiscard]] work* steal_into(local_queue& mine) noexcept {
    // order: none; the thief owns `mine`.
    const std::uint32_t my_tail = mine.tail_.load(std::memory_order_relaxed);
    // order: [queue.copied] acquire: as in try_push(), for the slots written below.
    const cursors my_head = unpack(mine.head_.load(std::memory_order_acquire));
    if (my_tail - my_head.steal > Capacity / 2) return nullptr;

    const claim taken = claim_half();
    if (taken.count == 0) return nullptr;
    work* const first = slot(taken.from).read();
    for (std::uint32_t i = 1; i < taken.count; ++i)
      mine.slot(my_tail + i - 1).write(slot(taken.from + i).read());
    release_claim();
    // order: [queue.push] release: the items, to whoever steals them from here.
    if (taken.count > 1) mine.tail_.store(my_tail + taken.count - 1, std::memory_order_release);
    return first;
  }

  /// Any thread; a guess unless the owner asks.
  [[nodiscard]] std::uint32_t size() const noexcept {
    // order: none; a guess. The head first: it never passes the tail.
    const cursors head = unpack(head_.load(std::memory_order_relaxed));
    // order: none; a guess.
    const std::uint32_t length = tail_.load(std::memory_order_relaxed) - head.real;
    return length <= Capacity ? length : 0;
  }

private:
  struct cursors {
    std::uint32_t steal;
    std::uint32_t real;
    std::uint32_t went_back;
  };
  struct claim {
    std::uint32_t from;
    std::uint32_t count;
  };

  static constexpr unsigned distance_shift = 32;
  static constexpr unsigned went_back_shift = 64 - BackBits;
  static constexpr std::uint32_t most_back = (1U << BackBits) - 1;
  static constexpr std::uint32_t distance_mask = 1'023;

  static std::uint64_t pack(std::uint32_t steal, std::uint32_t real,
                            std::uint32_t went_back) noexcept {
    return std::uint64_t{went_back} << went_back_shift |
           std::uint64_t{real - steal} << distance_shift | real;
  }
  static cursors unpack(std::uint64_t word) noexcept {
    const auto real = static_cast<std::uint32_t>(word);
    const std::uint32_t distance =
        static_cast<std::uint32_t>(word >> distance_shift) & distance_mask;
    return cursors(real - distance, real, static_cast<std::uint32_t>(word >> went_back_shift));
  }
  static std::uint32_t real_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  /// The owner has taken the oldest item; a thief that is at work stays where it is, and so is left
  /// further behind. How often the tail went back is counted anew.
  static std::uint64_t behind_first(std::uint64_t word) noexcept {
    constexpr std::uint64_t one_behind = std::uint64_t{1} << distance_shift;
    const std::uint64_t behind = word & std::uint64_t{distance_mask} << distance_shift;
    return (behind != 0 ? behind + one_behind : 0) | (real_of(word) + 1);
  }
  /// The owner has taken the newest item.
  static std::uint64_t after_going_back(cursors head) noexcept {
    return pack(head.steal, head.real, head.went_back + 1);
  }
  auto& slot(std::uint32_t at) noexcept { return slots_[at % Capacity]; }
  // The slots are the owner's own writes, wherever the head is meanwhile.
  popped popped_at(std::uint32_t head, std::uint32_t tail, std::uint32_t behind) noexcept {
    const bool has_later = behind > 0 && tail - head > behind;
    return {slot(head).read(), has_later ? slot(head + behind).read() : nullptr};
  }

  /// Owner, with a full ring and nobody stealing: moves the older half out. False if a thief came.
  template <typename Overflow>
  bool take_half(std::uint64_t seen, Overflow& out) noexcept {
    const cursors head = unpack(seen);
    const std::uint32_t from = head.real;
    const std::uint32_t next = from + Capacity / 2;
    // order: none; as in pop().
    if (!head_.compare_exchange_strong(seen, pack(next, next, 0), std::memory_order_relaxed,
                                       std::memory_order_relaxed))
      return false;
    for (std::uint32_t i = from; i != next; ++i) out.push_back(*slot(i).read());
    return true;
  }

  /// Thief: moves `real` on over half of the items, and leaves `steal` behind.
  claim claim_half() noexcept {
    // order: [queue.back] acquire: the tail, which may have gone back. The exchange below needs the
    //        same head.
    std::uint64_t seen = head_.load(std::memory_order_acquire);
    for (;;) {
      const cursors head = unpack(seen);
      if (head.steal != head.real) return claim(0, 0);
      // order: [queue.push] acquire: the slots up to this tail.
      const std::uint32_t length = tail_.load(std::memory_order_acquire) - head.real;
      // Head and tail of different times, since the owner went on meanwhile. It is awake, so what
      // is left here will be run.
      if (length > Capacity) return claim(0, 0);
      const std::uint32_t count = length - length / 2;
      if (count == 0) return claim(0, 0);
      // order: none; the slots were written before the tail that was read. [queue.back] acquire, if
      //        it fails: as above.
      if (head_.compare_exchange_strong(seen, pack(head.steal, head.real + count, 0),
                                        std::memory_order_relaxed, std::memory_order_acquire))
        return claim(head.real, count);
    }
  }

  /// Thief: the slots have been read; `steal` catches up.
  void release_claim() noexcept {
    // order: none; the exchange below decides.
    std::uint64_t seen = head_.load(std::memory_order_relaxed);
    for (;;) {
      const cursors head = unpack(seen);
      // order: [queue.copied] release: the reads of the slots, before the owner writes them again.
      if (head_.compare_exchange_weak(seen, pack(head.real, head.real, head.went_back),
                                      std::memory_order_release, std::memory_order_relaxed))
        return;
    }
  }

  alignas(interference_distance) typename Atomics::template atomic<std::uint64_t> head_{0};
  alignas(interference_distance) typename Atomics::template atomic<std::uint32_t> tail_{0};
  std::array<typename Atomics::template plain<work*>, Capacity> slots_;
};

}  // namespace skua::inline SKUA_ABI
