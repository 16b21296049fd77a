// skua/sync/mutex_word.hpp: whether a mutex is held, and whether anybody waits for it.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Taken and given back with one exchange each while nobody waits, or while the first in line is on
/// its way; otherwise under the lock of the line.
///
/// The word:
///   free
///   held      nobody waits
///   awaited   held, and somebody is in line. Changes to and from this happen under the lock, and
///             so does the next unlock.
///   open      free, and the first in line was told so: it comes. Until then anybody may take it.
///   passed    held by one who took it meanwhile
template <typename Atomics>
class mutex_word {
public:
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t seen = free;
    // order: [mutex.held] acquire: what the last holder did.
    if (word_.compare_exchange_strong(seen, held, std::memory_order_acquire,
                                      std::memory_order_relaxed)) [[likely]]
      return true;
    return seen == open && try_pass();
  }

  /// By the holder. False if somebody waits for it, or if it is not held at all: go on under the
  /// lock.
  [[nodiscard]] bool try_unlock() noexcept {
    std::uint32_t seen = held;
    // order: [mutex.held] release: what we did, to the next holder.
    if (word_.compare_exchange_strong(seen, free, std::memory_order_release,
                                      std::memory_order_relaxed)) [[likely]]
      return true;
    // order: [mutex.held] release: likewise.
    return seen == passed && word_.compare_exchange_strong(seen, open, std::memory_order_release,
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
      if (expected == awaited || expected == passed) return false;
    }
  }

  /// By the holder, while it is awaited: the first in line will be told.
  void open_for_first() noexcept {
    // order: [mutex.held] release: what we did, to the next holder.
    word_.store(open, std::memory_order_release);
  }

  /// The first in line, who was told, has come. True if it is its own now; false if it was passed:
  /// then the next unlock is made under the lock, and hands it over.
  [[nodiscard]] bool lock_for_first() noexcept {
    for (;;) {
      std::uint32_t seen = open;
      // order: [mutex.held] acquire: what the last holder did.
      if (word_.compare_exchange_strong(seen, awaited, std::memory_order_acquire,
                                        std::memory_order_relaxed))
        return true;
      seen = passed;
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
  static constexpr std::uint32_t open = 4;
  static constexpr std::uint32_t passed = 5;

  // Apart, so that the usual way is short.
  [[gnu::noinline]] bool try_pass() noexcept {
    std::uint32_t seen = open;
    // order: [mutex.held] acquire: what the last holder did.
    return word_.compare_exchange_strong(seen, passed, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  typename Atomics::template atomic<std::uint32_t> word_{free};
};

}  // namespace skua::inline SKUA_ABI
