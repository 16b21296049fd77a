// src/sched/join_word.hpp: who still refers to a spawned task's cell, and who frees it.
#pragma once

#include "skua/base/check.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Who still refers to a spawned task's cell: the *task* until it has ended, its *handle* until
/// dropped, and *walkers* that pin it for a moment. The last to let go is told so, and frees the
/// cell: exactly one, once, and it sees all that the others did to the cell.
///
/// Cells are type-stable: a walker may look at the word of a free or reused cell at any time.
///
/// Bits: `done` (the task has ended), `joiner` (the handle waits for that), `dropped` (the handle
/// is gone); above them the number of pins. A word that is done, dropped and not pinned is *free*,
/// and that is all: from the operation that answers "free" until the next open() nobody can pin it,
/// and the cell is the caller's alone. `joiner` means nothing once `done` is set.
template <typename Atomics>
class join_word {
public:
  /// What the task is to do after its end.
  enum class end_answer : unsigned char {
    kept,         ///< Nothing. The cell is no longer the task's: it must not touch it again.
    wake_joiner,  ///< Wake the joiner. Its address may be read; the cell is gone once it is woken.
    free,         ///< Free the cell.
  };

  join_word() = default;  // free
  join_word(const join_word&) = delete;
  join_word& operator=(const join_word&) = delete;

  /// Spawner, who has the free cell to itself and has filled it: task and handle refer to it now.
  void open() noexcept { open_as(0); }

  /// The same, with the handle dropped from the start.
  void open_dropped() noexcept { open_as(dropped); }

  /// The task, its result in place.
  [[nodiscard]] end_answer end() noexcept {
    // order: [join.let_go] release: the result and the task's uses of the cell, to the joiner and
    // to
    //        whoever frees it. [join.let_go] acquire: the others' uses, if this is the last.
    //        [join.joiner] acquire: the joiner's address.
    const std::uint32_t before = word_.fetch_add(done_bit, std::memory_order_acq_rel);
    check((before & done_bit) == 0, "a task ends once");
    if (is_free(before + done_bit)) return end_answer::free;
    return (before & joiner) != 0 ? end_answer::wake_joiner : end_answer::kept;
  }

  /// The handle, not while it joins: refers to the cell no longer. True if the caller frees it.
  [[nodiscard]] bool drop() noexcept {
    // order: [join.let_go] release: the handle's uses of the cell. [join.let_go] acquire: the
    //        others', and the result, if this is the last.
    const std::uint32_t before = word_.fetch_add(dropped, std::memory_order_acq_rel);
    check((before & dropped) == 0, "a handle is dropped once");
    check((before & (joiner | done_bit)) != joiner, "a handle is not dropped while it joins");
    return is_free(before + dropped);
  }

  /// Who runs the task and holds its handle, instead of end() and drop(): between the two nobody
  /// else would have had anything of it. True if the caller frees the cell.
  [[nodiscard]] bool end_and_drop() noexcept {
    // order: [join.let_go] release, acquire: as of the two.
    const std::uint32_t before = word_.fetch_add(done_bit | dropped, std::memory_order_acq_rel);
    check((before & (done_bit | dropped | joiner)) == 0,
          "a task ends once, and its handle is dropped once, not while it joins");
    return is_free(before + (done_bit | dropped));
  }

  /// The handle, or a walker that has pinned: has the task ended? Then the handle may use its
  /// result.
  [[nodiscard]] bool done() const noexcept {
    // order: [join.let_go] acquire: the result.
    return (word_.load(std::memory_order_acquire) & done_bit) != 0;
  }

  /// The handle, which has left the joiner's address in the cell. True: end() will answer
  /// wake_joiner, unless leave() comes first. False: the task has ended, its result can be read.
  [[nodiscard]] bool join() noexcept {
    // order: [join.joiner] release: the address. [join.let_go] acquire: the result.
    const std::uint32_t before = word_.fetch_or(joiner, std::memory_order_acq_rel);
    check((before & (joiner | done_bit)) != joiner, "a handle joins once at a time");
    check((before & dropped) == 0, "a handle is not dropped while it joins");
    return (before & done_bit) == 0;
  }

  /// The joiner gives up. True: end() will not wake it. False: the task has ended and the wake
  /// comes; until then the joiner waits, and its handle is not dropped.
  [[nodiscard]] bool leave() noexcept {
    // order: none; whoever ends after this does not read the address, and the wake orders the rest.
    const std::uint32_t before = word_.fetch_and(~joiner, std::memory_order_relaxed);
    check((before & joiner) != 0, "who leaves has joined");
    return (before & done_bit) == 0;
  }

  /// Any thread: false if the cell is free. True: it stays this task's until unpin(), and what was
  /// written before open() can be read; the rest of the cell is not the walker's business.
  [[nodiscard]] bool pin() noexcept {
    // order: none; the exchange below orders.
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    while (!is_free(seen)) {
      // order: [join.open] acquire: the cell's fields.
      if (word_.compare_exchange_weak(seen, seen + pin_one, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  /// True if the caller frees the cell.
  [[nodiscard]] bool unpin() noexcept {
    // order: [join.let_go] release: the walker's reads of the cell. [join.let_go] acquire: the
    //        others' uses of it, and the result, if this is the last.
    const std::uint32_t before = word_.fetch_sub(pin_one, std::memory_order_acq_rel);
    check(before >= pin_one, "who unpins has pinned");
    return is_free(before - pin_one);
  }

  /// Any thread; a guess, except to those who refer to the cell and those who have it to
  /// themselves.
  [[nodiscard]] bool is_free() const noexcept {
    // order: none; a guess.
    return is_free(word_.load(std::memory_order_relaxed));
  }

private:
  static constexpr std::uint32_t done_bit = 1U << 0;
  static constexpr std::uint32_t joiner = 1U << 1;
  static constexpr std::uint32_t dropped = 1U << 2;
  static constexpr std::uint32_t pin_one = 1U << 3;

  static bool is_free(std::uint32_t word) noexcept {
    return (word & ~joiner) == (done_bit | dropped);
  }

  // A store will do: nobody changes a word that is free.
  void open_as(std::uint32_t word) noexcept {
    check(is_free(), "a cell is opened while it is free");
    // order: [join.open] release: the cell's fields, to a walker that pins it.
    word_.store(word, std::memory_order_release);
  }

  typename Atomics::template atomic<std::uint32_t> word_{done_bit | dropped};
};

}  // namespace skua::inline SKUA_ABI
