// bench/runtime/event.hpp: the least a leaf can be that one task sets and another waits for.
#pragma once

#include "skua/coro/leaf.hpp"

#include <atomic>
#include <cstdint>

/// Remembers one set() until it is waited for. One task waits at a time; any thread sets it.
class event {
public:
  class wait;

  void set() noexcept;

private:
  // Empty, set, or the address of the wait.
  static constexpr std::uintptr_t empty = 0;
  static constexpr std::uintptr_t is_set = 1;
  std::atomic<std::uintptr_t> word_{empty};
};

class event::wait final : public skua::leaf {
public:
  explicit wait(event& source) noexcept : source_(source) {}
  void await_resume() const noexcept {}

private:
  void start() noexcept override {
    std::uintptr_t seen = empty;
    // order: the wait, to the setter; what the setter did, from it.
    if (source_.word_.compare_exchange_strong(seen, reinterpret_cast<std::uintptr_t>(this),
                                              std::memory_order_acq_rel))
      return;
    // order: as above; it is set, and only a waiter takes that back.
    source_.word_.exchange(empty, std::memory_order_acq_rel);
    complete();
  }
  skua::cancel_answer cancel() noexcept override {
    auto seen = reinterpret_cast<std::uintptr_t>(this);
    // order: none; whoever claims the wait first has it.
    return source_.word_.compare_exchange_strong(seen, empty, std::memory_order_relaxed)
               ? skua::cancel_answer::detached
               : skua::cancel_answer::pending;
  }

  event& source_;
};

inline void event::set() noexcept {
  // order: none; the exchange decides.
  std::uintptr_t seen = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (seen == is_set) return;
    // order: what the setter did, to the waiter; the wait, from it.
    if (word_.compare_exchange_weak(seen, seen == empty ? is_set : empty,
                                    std::memory_order_acq_rel))
      break;
  }
  if (seen != empty) reinterpret_cast<wait*>(seen)->complete();
}
