// src/sched/lifo_slot.hpp: one place for the item that its worker runs next.
#pragma once

#include "skua/base/check.hpp"
#include "skua/base/work.hpp"

#include <atomic>

namespace skua::inline SKUA_ABI {

/// One item that runs next on its worker. The *owner* puts and takes; a *rescuer* of a stuck owner
/// may take too, and so may several at once. Whoever takes an item sees what was written before it
/// was put.
///
/// Only the owner fills the slot. So a slot that the owner finds empty stays empty until it puts
/// something there itself, and a store will do; only what is occupied can be snatched away, and is
/// fetched by an exchange.
template <typename Atomics>
class lifo_slot {
public:
  lifo_slot() = default;
  lifo_slot(const lifo_slot&) = delete;
  lifo_slot& operator=(const lifo_slot&) = delete;
  ~lifo_slot() { check(empty(), "a LIFO slot dies empty"); }

  /// Owner: leaves `item` here. Returns the item that was here before, now the caller's; or null.
  [[nodiscard]] work* put(work& item) noexcept {
    // order: none; null is final for the owner, anything else is decided by the exchange.
    if (slot_.load(std::memory_order_relaxed) == nullptr) {
      // order: [lifo.put] release: the item, to the rescuer that takes it.
      slot_.store(&item, std::memory_order_release);
      return nullptr;
    }
    // order: [lifo.put] release: as above. The item that comes out was the owner's own.
    return slot_.exchange(&item, std::memory_order_release);
  }

  /// Owner or rescuer: takes the item; null if there is none.
  [[nodiscard]] work* take() noexcept {
    if (empty()) return nullptr;
    // order: [lifo.put] acquire: the item, if a rescuer takes it.
    return slot_.exchange(nullptr, std::memory_order_acquire);
  }

  /// The same where there is no rescuer: without an exchange.
  [[nodiscard]] work* take_unshared() noexcept {
    // order: none; nobody else changes it.
    work* const item = slot_.load(std::memory_order_relaxed);
    slot_.store(nullptr, std::memory_order_relaxed);
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
  typename Atomics::template atomic<work*> slot_{nullptr};
};

}  // namespace skua::inline SKUA_ABI
