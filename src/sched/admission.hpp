// src/sched/admission.hpp: foreign threads inside the runtime: counted, and refused once it closes.
#pragma once

#include "skua/base/check.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Foreign threads inside the runtime: one word {closed, count}. The runtime's memory outlives
/// everybody who is inside. That it still exists when somebody enters is the caller's to ensure.
///
/// A thread that comes too late is counted all the same, until it leaves: so it may still look
/// around, and say why it was refused. After close(), once empty() was true, whatever an admitted
/// thread did is done, and no thread will be admitted again.
template <typename Atomics>
class admission {
public:
  admission() = default;
  admission(const admission&) = delete;
  admission& operator=(const admission&) = delete;

  /// Counts the caller in, always. True: open. False: closed; it does nothing and leaves.
  [[nodiscard]] bool enter() noexcept {
    // order: [admission.close] acquire: what the closer did before, if it is closed.
    return (word_.fetch_add(inside_one, std::memory_order_acquire) & closed_bit) == 0;
  }

  /// After this the caller touches nothing of the runtime.
  void leave() noexcept {
    // order: [admission.leave] release: all that was done inside.
    const std::uint64_t before = word_.fetch_sub(inside_one, std::memory_order_release);
    check(before >= inside_one, "who leaves has entered");
  }

  /// True for the first.
  bool close() noexcept {
    // order: [admission.close] release: what the closer did before, to those who are refused.
    return (word_.fetch_or(closed_bit, std::memory_order_release) & closed_bit) == 0;
  }

  /// Any thread: nobody is inside. All that was done inside happens before this returns true.
  [[nodiscard]] bool empty() const noexcept {
    // order: [admission.leave] acquire: all that was done inside.
    return word_.load(std::memory_order_acquire) < inside_one;
  }

  [[nodiscard]] bool closed() const noexcept {
    // order: [admission.close] acquire: what the closer did before.
    return (word_.load(std::memory_order_acquire) & closed_bit) != 0;
  }

private:
  static constexpr std::uint64_t closed_bit = 1;
  static constexpr std::uint64_t inside_one = 2;

  typename Atomics::template atomic<std::uint64_t> word_{0};
};

}  // namespace skua::inline SKUA_ABI
