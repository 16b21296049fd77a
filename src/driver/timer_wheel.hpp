// src/driver/timer_wheel.hpp: who waits for which moment; the same for every driver.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/driver/timer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Timers, filed by deadline. Not thread-safe: the driver's lock covers it. Allocates nothing, at
/// any time. Dies empty.
///
/// Time is cut into ticks of 2^18 ns, and the number of a tick into digits: the lowest one of 10
/// bits, the others of 6. A timer stands on the level of the highest digit in which its tick
/// differs from the current one, in the slot of that digit. Hence
///   - all timers of a level are due before any of a level above it, and all of a slot before any
///     of the slots behind it: the earliest timer is in the first occupied slot;
///   - when time enters a slot of an upper level, all levels below it are empty, and its timers are
///     filed anew there. Until then they cannot be due;
///   - seven levels hold every int64. There is no list of timers too far away, and a slot never
///     means two different times.
/// The lowest level is that large, and its ticks that short, since where there are many timers each
/// walk along a list waits for memory at every step: most that are due within a tenth of a second
/// are filed once, and those of a slot stay in the cache while they are put in order.
///
/// The slot of the current tick is the only one that can be partly due. Timers inserted late, with
/// deadlines before it, stand there, too. It is put in order when the first of them is due, so that
/// those that are not need not be looked at again and again.
class timer_wheel {
public:
  explicit timer_wheel(std::int64_t now) noexcept : tick_(tick_of(now)) {}
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;
  ~timer_wheel();

  /// O(1). `item` is idle. If its deadline is past, the next advance() hands it out. `now` may be
  /// older or newer than that of the last advance(): it only spares work, and decides nothing.
  void insert(timer& item, std::int64_t now) noexcept;

  /// O(1). The same, but `item.deadline` is a length, which begins with the next advance() or
  /// begin_lengths().
  void insert_length(timer& item) noexcept;

  /// Some have not begun. There is no next_deadline() then.
  [[nodiscard]] bool has_lengths() const noexcept { return !lengths_.empty(); }
  /// They begin: each one's deadline is so long after `now`. A few steps for each.
  void begin_lengths(std::int64_t now) noexcept;

  /// O(1). False if `item` is in no wheel: it was handed out, removed or never inserted. Otherwise
  /// it is in this wheel, and idle afterwards.
  bool remove(timer& item) noexcept;

  /// Moves every timer whose deadline is `now` or earlier, and no other, behind the last of
  /// `expired`: in exact order of deadline, and of insertion where deadlines are equal. That holds
  /// for a `now` older than that of an earlier call, too.
  ///
  /// Time that passes costs nothing, be it years. A timer costs a few steps when it is handed out
  /// (n timers of one slot that were not inserted in order, n log n steps), at most six moves
  /// from level to level before, and a few more whenever one is inserted for the current tick that
  /// is due before others.
  void advance(std::int64_t now, timer_list& expired) noexcept;

  /// When to call advance() next; `no_deadline` if the wheel is empty. O(1). Never later than
  /// the earliest deadline, and equal to it unless a timer was removed: then it may be the deadline
  /// of a removed timer of the same slot. advance() looks at such a slot again, so that
  ///   - after advance(now) it is later than `now` (but for `no_deadline`);
  ///   - a removed timer makes a driver wake for nothing at most once.
  [[nodiscard]] std::int64_t next_deadline() const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

private:
  static constexpr int tick_bits = 18;
  static constexpr int lowest_digit_bits = 10;
  static constexpr int digit_bits = 6;
  static constexpr std::size_t levels = 7;
  static_assert(tick_bits + lowest_digit_bits + (levels - 1) * digit_bits >= 64,
                "every int64 has its slot");

  // A slot's "place" counts the slots of all levels, the lowest level first: of two that are
  // occupied, that with the lower place is due first.
  static constexpr std::size_t lowest_slots = 1U << lowest_digit_bits;
  static constexpr std::size_t upper_slots = 1U << digit_bits;
  static constexpr std::size_t places = lowest_slots + (levels - 1) * upper_slots;
  static constexpr std::size_t in_word = 64;
  static constexpr std::size_t words = places / in_word;
  static_assert(places % in_word == 0 && words < in_word);
  static constexpr std::size_t nowhere = places;

  struct slot {
    timer_list items;                     // those of equal deadline in order of insertion
    std::int64_t earliest = no_deadline;  // not later than any of them
  };

  static std::uint64_t tick_of(std::int64_t time) noexcept {
    // With the sign turned around, unsigned numbers have the order of the signed ones.
    return (static_cast<std::uint64_t>(time) ^ std::uint64_t{1} << 63) >> tick_bits;
  }
  /// Of a timer due in `tick`, seen from `now`, which is not later.
  static std::size_t place_of(std::uint64_t tick, std::uint64_t now) noexcept;
  static std::size_t place_of_current(std::uint64_t tick) noexcept {
    return tick & (lowest_slots - 1);
  }

  [[nodiscard]] std::size_t first_occupied() const noexcept;
  void file(timer& item) noexcept;
  void set_empty(std::size_t place) noexcept;
  void turn_to(std::uint64_t tick, timer_list& expired) noexcept;
  void file_anew(std::size_t place) noexcept;
  void hand_out(std::size_t place, timer_list& expired) noexcept;
  void hand_out_current(std::int64_t now, timer_list& expired) noexcept;
  void note_order(const slot& current, std::int64_t deadline) noexcept;
  void put_in_order(slot& current) noexcept;

  std::uint64_t tick_;  // the current one; never goes back
  std::size_t size_ = 0;
  bool in_order_ = true;                         // the current slot, by deadline
  std::int64_t latest_ = 0;                      // the deadline of its last, if it is in order
  std::uint64_t occupied_words_ = 0;             // which of the words below are not 0
  std::array<std::uint64_t, words> occupied_{};  // which slots are not empty, by place
  timer_list lengths_;                           // those that have not begun
  std::array<slot, places> slots_;
};

}  // namespace skua::inline SKUA_ABI
