// src/driver/park_word.hpp: decides whether a wake has to reach for the kernel.
#pragma once

#include "skua/base/check.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// One token between a thread that sleeps, the *owner*, and those who wake it: a wake before the
/// sleep makes the next sleep return at once; many wakes make one token. Whoever consumes the token
/// sees all that was written before each of the wakes that went into it.
///
/// States, in the order in which announce() counts down:
///   notified  there is a token.
///   empty     there is none, and the owner is awake.
///   parked    the owner sleeps, or is about to.
template <typename Atomics>
class park_word {
public:
  static constexpr std::uint32_t notified = 1;
  static constexpr std::uint32_t empty = 0;
  static constexpr std::uint32_t parked = empty - 1;

  park_word() = default;
  park_word(const park_word&) = delete;
  park_word& operator=(const park_word&) = delete;

  /// Owner: is about to sleep. False if there was a token, now consumed: it does not sleep.
  [[nodiscard]] bool announce() noexcept {
    // order: [park.token] acquire: what the waker did, if the token is there already.
    const std::uint32_t before = word_.fetch_sub(1, std::memory_order_acquire);
    if (before == notified) return false;
    check(before == empty, "only its owner parks");
    return true;
  }

  /// Owner, after announce(): true, and awake, if the token has come. False: sleep on.
  [[nodiscard]] bool try_end() noexcept {
    std::uint32_t seen = notified;
    // order: [park.token] acquire: what the waker did. Still parked: woken for another reason.
    return word_.compare_exchange_strong(seen, empty, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  /// Owner, after announce(): awake, for whatever reason. True if a token was consumed.
  bool end() noexcept {
    // Takes back the sleep; a token that came at the last moment is consumed, not left behind.
    // order: [park.token] acquire: as above.
    return word_.exchange(empty, std::memory_order_acquire) == notified;
  }

  /// Owner: takes the token, if it is there, without sleeping. May miss one whose notify() is not
  /// ordered before the call by other means; announce() does not.
  [[nodiscard]] bool try_consume() noexcept {
    // order: none; the exchange below orders.
    if (word_.load(std::memory_order_relaxed) != notified) return false;
    // order: [park.token] acquire: what the wakers did.
    word_.exchange(empty, std::memory_order_acquire);
    return true;
  }

  /// Any thread: leaves a token. True if the owner sleeps, and the caller has to end that.
  [[nodiscard]] bool notify() noexcept {
    // An exchange also if there is a token already: it adds what this waker did to that token.
    // order: [park.token] release: what the waker did, to the owner that consumes the token.
    return word_.exchange(notified, std::memory_order_release) == parked;
  }

  /// For a sleep on the word itself.
  [[nodiscard]] auto& raw() noexcept { return word_; }

private:
  typename Atomics::template atomic<std::uint32_t> word_{empty};
};

}  // namespace skua::inline SKUA_ABI
