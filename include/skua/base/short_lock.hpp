// skua/base/short_lock.hpp: four bytes that keep threads out of each other's way for a moment.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// For a few instructions at a time: held neither while user code runs nor across a suspension.
/// Small enough to lie inside whatever it protects, and whoever gets it last may destroy it: an
/// unlock does not touch it once another can have it. Any thread; not recursive, not fair.
///
/// The word: free, or held. Who waits wakes by itself, so that nobody has to be told: an unlock is
/// a store, which is half of what both cost when nobody is in the way.
class short_lock {
public:
  short_lock() = default;
  short_lock(const short_lock&) = delete;
  short_lock& operator=(const short_lock&) = delete;

  void lock() noexcept {
    if (!try_lock()) wait_and_lock();
  }

  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = free;
    // order: [short_lock] acquire: what the last holder did.
    return word_.compare_exchange_strong(expected, held, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  /// True if nobody holds it; then what the last holder did is visible. Whether somebody may take
  /// it meanwhile the caller has to know.
  [[nodiscard]] bool is_free() const noexcept {
    // order: [short_lock] acquire: what the last holder did.
    return word_.load(std::memory_order_acquire) == free;
  }

  void unlock() noexcept {
    // order: [short_lock] release: what we did, to the next holder.
    word_.store(free, std::memory_order_release);
  }

private:
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t held = 1;

  [[gnu::visibility("default")]] void wait_and_lock() noexcept;

  std::atomic<std::uint32_t> word_{free};
};

/// Holds a short_lock while it exists.
class [[nodiscard]] short_hold {
public:
  explicit short_hold(short_lock& which) noexcept : which_(which) { which_.lock(); }
  short_hold(const short_hold&) = delete;
  short_hold& operator=(const short_hold&) = delete;
  ~short_hold() { which_.unlock(); }

private:
  short_lock& which_;
};

}  // namespace skua::inline SKUA_ABI
