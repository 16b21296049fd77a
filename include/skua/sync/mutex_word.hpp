// skua/sync/mutex_word.hpp: whether a mutex is held, and whether anybody waits for it.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Taken and given back with one exchange each, unless somebody is in line who was not told to come
/// yet; otherwise under the lock of the line.
///
/// The word:
///   free
///   held
///   awaited   held, and somebody is in line, nobody of them on its way: the next unlock is made
///             under the lock. Changes to and from this happen under it, too.
/// While the first in line is on its way the mutex is free, or held, for whoever comes first.
template <typename Atomics>
class mutex_word {
public:
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = free;
    // order: [mutex.held] acquire: what the last holder did.
    return word_.compare_exchange_strong(expected, held, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  /// By the holder. False if somebody waits for it, or if it is not held at all: go on under the
  /// lock.
  [[nodiscard]] bool try_unlock() noexcept {
    std::uint32_t expected = held;
    // order: [mutex.held] release: what we did, to the next holder.
    return word_.compare_exchange_strong(expected, free, std::memory_order_release,
                                         std::memory_order_relaxed);
  }

  // Under the lock of the line.

  /// True if it was free and is the caller's now; otherwise the caller joins the line, perhaps as
  /// the only one in it.
  [[nodiscard]] bool lock_or_wait(bool alone) noexcept {
    for (;;) {
      if (try_lock()) return true;
      if (!alone) return false;
      std::uint32_t expected = held;
      // order: none; the line is under its lock.
      if (word_.compare_exchange_strong(expected, awaited, std::memory_order_relaxed,
                                        std::memory_order_relaxed))
        return false;
    }
  }

  /// By the holder, while it is awaited: the first in line will be told.
  void open_for_first() noexcept {
    // order: [mutex.held] release: what we did, to the next holder.
    word_.store(free, std::memory_order_release);
  }

  /// The first in line, who was told, has come. True if it is its own now; false if somebody else
  /// has it: then the next unlock is made under the lock, and hands it over.
  [[nodiscard]] bool lock_for_first() noexcept {
    for (;;) {
      std::uint32_t seen = free;
      // order: [mutex.held] acquire: what the last holder did.
      if (word_.compare_exchange_strong(seen, awaited, std::memory_order_acquire,
                                        std::memory_order_relaxed))
        return true;
      seen = held;
      // order: none; the holder comes under the lock when it unlocks.
      if (word_.compare_exchange_strong(seen, awaited, std::memory_order_relaxed,
                                        std::memory_order_relaxed))
        return false;
    }
  }

  /// The last one in line has left it, or has been given the mutex. Not while one is on its way.
  void line_is_empty() noexcept {
    // order: none; who holds it holds it still, or was given it by way of the line's lock.
    word_.store(held, std::memory_order_relaxed);
  }

  /// For checks; may be out of date.
  [[nodiscard]] bool is_held() const noexcept {
    // order: none; a look.
    return (word_.load(std::memory_order_relaxed) & held) != 0;
  }
  [[nodiscard]] bool is_free() const noexcept {
    // order: none; a look.
    return word_.load(std::memory_order_relaxed) == free;
  }

private:
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t held = 1;
  static constexpr std::uint32_t awaited = 3;

  typename Atomics::template atomic<std::uint32_t> word_{free};
};

}  // namespace skua::inline SKUA_ABI
