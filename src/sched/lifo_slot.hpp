// src/sched/lifo_slot.hpp: one place for the item that its worker runs next.
#pragma once

#include "skua/base/check.hpp"
#include "skua/base/work.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// One item that runs next on its worker. The *owner* puts and takes; a *rescuer* of a stuck owner
/// may take too, and so may several at once. Whoever takes an item sees what was written before it
/// was put.
///
/// Only the owner fills the slot. So a slot that the owner finds empty stays empty until it puts
/// something there itself, and a store will do. What is occupied can be snatched away. An owner
/// that takes it says that it is *there* and then looks for rescuers; a rescuer counts itself in
/// and then looks for the owner. One of the two sees the other: not by the orders of the words,
/// which would cost each turn an exchange, but by the `Barrier`, see live_count. A rescuer that
/// finds the owner there leaves, and may come again; an owner that finds rescuers takes by an
/// exchange, as they do.
template <typename Atomics, typename Barrier>
class lifo_slot {
public:
  lifo_slot() = default;
  lifo_slot(const lifo_slot&) = delete;
  lifo_slot& operator=(const lifo_slot&) = delete;
  ~lifo_slot() { check(empty(), "a LIFO slot dies empty"); }

  /// Owner: leaves `item` here. Returns the item that was here before, now the caller's; or null.
  [[nodiscard]] work* put(work& item) noexcept {
    // order: none; null is final for the owner, anything else is decided by change().
    if (slot_.load(std::memory_order_relaxed) != nullptr) return change(&item);
    // order: [lifo.put] release: the item, to the rescuer that takes it.
    slot_.store(&item, std::memory_order_release);
    return nullptr;
  }

  /// Owner: takes the item; null if there is none.
  [[nodiscard]] work* take() noexcept { return empty() ? nullptr : change(nullptr); }

  /// The same where there is no rescuer: without a look for one.
  [[nodiscard]] work* take_unshared() noexcept {
    // order: none; nobody else changes it.
    work* const item = slot_.load(std::memory_order_relaxed);
    slot_.store(nullptr, std::memory_order_relaxed);
    return item;
  }

  /// Rescuer: takes the item; null if there is none, or if the owner is there. Interrupts all
  /// threads of the process for a moment.
  [[nodiscard]] work* rescue() noexcept {
    if (empty()) return nullptr;
    // order: none; the barrier brings it to the owner.
    rescuers_.fetch_add(1, std::memory_order_relaxed);
    work* item = nullptr;
    // order: [lifo.away] acquire: what the owner did to the slot, and the item.
    if (Barrier::heavy() && !owner_there_.load(std::memory_order_acquire))
      // order: [lifo.put] acquire: the item.
      item = slot_.exchange(nullptr, std::memory_order_acquire);
    // order: [lifo.rescued] release: that the slot is empty.
    rescuers_.fetch_sub(1, std::memory_order_release);
    return item;
  }

  /// Owner: true if `item` is what is here; a rescuer may take it any time.
  [[nodiscard]] bool holds(const work& item) const noexcept {
    // order: none; take() decides.
    return slot_.load(std::memory_order_relaxed) == &item;
  }

  /// Any thread; a guess unless the owner asks, and is told yes.
  [[nodiscard]] bool empty() const noexcept {
    // order: none; a guess.
    return slot_.load(std::memory_order_relaxed) == nullptr;
  }

private:
  /// Owner: puts `next` here, and returns what was here.
  work* change(work* next) noexcept {
    // order: none; the barrier brings it to the rescuers.
    owner_there_.store(true, std::memory_order_relaxed);
    Barrier::light();
    // order: [lifo.rescued] acquire: what a rescuer that has left did to the slot.
    if (rescuers_.load(std::memory_order_acquire) != 0) [[unlikely]]
      return change_among_rescuers(next);
    // order: none; nobody else changes it now, or sees it before the owner has left.
    work* const item = slot_.load(std::memory_order_relaxed);
    slot_.store(next, std::memory_order_relaxed);
    // order: [lifo.away] release: what was done to the slot.
    owner_there_.store(false, std::memory_order_release);
    return item;
  }

  [[gnu::noinline]] work* change_among_rescuers(work* next) noexcept {
    // order: [lifo.put] release: the item, to the rescuer. What comes out was the owner's own.
    work* const item = slot_.exchange(next, std::memory_order_release);
    // order: [lifo.away] release: as above.
    owner_there_.store(false, std::memory_order_release);
    return item;
  }

  typename Atomics::template atomic<work*> slot_{nullptr};
  typename Atomics::template atomic<std::uint32_t> rescuers_{0};
  typename Atomics::template atomic<bool> owner_there_{false};
};

}  // namespace skua::inline SKUA_ABI
