// bench/runtime/event.hpp: the least a leaf can be that one task sets and another waits for.
#pragma once

#include "skua/coro/leaf.hpp"

#include <atomic>

/// Remembers one set() until it is waited for. One task waits at a time; any thread sets it.
class event {
public:
  class wait;

  void set() noexcept;

private:
  // Null; or the event's own address, if it is set; or the address of the wait.
  std::atomic<void*> word_{nullptr};
};

class event::wait final : public skua::leaf {
public:
  explicit wait(event& source) noexcept : source_(source) {}
  void await_resume() const noexcept {}

private:
  void start() noexcept override {
    void* seen = nullptr;
    // order: the wait, to the setter; what the setter did, from it.
    if (source_.word_.compare_exchange_strong(seen, this, std::memory_order_acq_rel)) return;
    // order: as above; it is set, and only a waiter takes that back.
    source_.word_.exchange(nullptr, std::memory_order_acq_rel);
    complete();
  }
  skua::cancel_answer cancel() noexcept override {
    void* seen = this;
    // order: none; whoever claims the wait first has it.
    return source_.word_.compare_exchange_strong(seen, nullptr, std::memory_order_relaxed)
               ? skua::cancel_answer::detached
               : skua::cancel_answer::pending;
  }

  event& source_;
};

inline void event::set() noexcept {
  // order: none; the exchange decides.
  void* seen = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (seen == this) return;
    // order: what the setter did, to the waiter; the wait, from it.
    if (word_.compare_exchange_weak(seen, seen == nullptr ? this : nullptr,
                                    std::memory_order_acq_rel))
      break;
  }
  if (seen != nullptr) static_cast<wait*>(seen)->complete();
}
