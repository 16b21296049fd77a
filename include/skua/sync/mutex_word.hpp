// skua/sync/mutex_word.hpp: whether a mutex is held, and whether anybody waits for it.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Taken and given back with one exchange each while nobody waits; otherwise under the lock of the
/// line. Who unlocks while somebody waits hands the mutex over without freeing it, so that nobody
/// can come in between.
///
/// The word:
///   free
///   held      nobody waits
///   awaited   held, and somebody is in line. Changes to and from this happen under the lock.
template <typename Atomics>
class mutex_word {
public:
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = free;
    // order: [mutex.held] acquire: what the last holder did.
    return word_.compare_exchange_strong(expected, held, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  /// By the holder. False if somebody waits, or if it is not held at all: go on under the lock.
  [[nodiscard]] bool try_unlock() noexcept {
    std::uint32_t expected = held;
    // order: [mutex.held] release: what we did, to the next holder.
    return word_.compare_exchange_strong(expected, free, std::memory_order_release,
                                         std::memory_order_relaxed);
  }

  // Under the lock of the line.

  /// True if it was free and is the caller's now; otherwise the caller joins the line.
  [[nodiscard]] bool lock_or_wait() noexcept {
    for (;;) {
      if (try_lock()) return true;
      std::uint32_t expected = held;
      // order: none; the line is under its lock.
      if (word_.compare_exchange_strong(expected, awaited, std::memory_order_relaxed,
                                        std::memory_order_relaxed))
        return false;
      if (expected == awaited) return false;
    }
  }

  /// The last one in line has left it, or has been given the mutex.
  void line_is_empty() noexcept {
    // order: none; who holds it holds it still, or was given it by way of the line's lock.
    word_.store(held, std::memory_order_relaxed);
  }

  /// For checks; may be out of date.
  [[nodiscard]] bool is_free() const noexcept {
    // order: none; a look.
    return word_.load(std::memory_order_relaxed) == free;
  }

private:
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t held = 1;
  static constexpr std::uint32_t awaited = 2;

  typename Atomics::template atomic<std::uint32_t> word_{free};
};

}  // namespace skua::inline SKUA_ABI
