// src/driver/parker.hpp: sleep and wake of one thread.
#pragma once

#include "skua/base/check.hpp"

#include <atomic>
#include <cstdint>
#include <limits>

namespace skua::inline SKUA_ABI {

/// Sleep and wake of one thread, its *owner*, with one token: a wake before the sleep makes the
/// next sleep return at once; many wakes make one token. Whoever consumes the token sees all that
/// was written before each of the wakes that went into it.
///
/// A token says that somebody woke, not who or why, and may be left over from a wake that the owner
/// had no need of. So an owner looks at all that it sleeps for after each park(), and whoever
/// counts sleepers counts by something else (idle).
///
/// States of the word, in the order in which park() counts down:
///   notified  there is a token.
///   empty     there is none, and the owner is awake.
///   parked    the owner sleeps, or is about to.
///
/// `Futex` has two static functions:
///   bool wait(atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t deadline)
///     sleeps while `word` is `expected`, until woken; false if the deadline has passed. May return
///     true for no reason.
///   void wake_one(atomic<std::uint32_t>& word)
///
/// Lifetime: as soon as wake() has published the token the owner may go on, while the waker has
/// still to make its system call. So the parker outlives every waker: the runtime keeps it until no
/// thread can call wake() any more. (wake() hands the kernel only the address by then, reads and
/// writes nothing; a wake that reaches another futex at this address is one for no reason.)
template <typename Atomics, typename Futex>
class parker {
public:
  static constexpr std::int64_t no_deadline = std::numeric_limits<std::int64_t>::max();

  parker() = default;
  parker(const parker&) = delete;
  parker& operator=(const parker&) = delete;

  /// Owner: sleeps until woken, or until `deadline` (nanoseconds of CLOCK_MONOTONIC) has passed.
  /// True if a token was consumed; false, never before the deadline, if there was none.
  bool park(std::int64_t deadline) noexcept {
    // order: [park.token] acquire: what the waker did, if the token is there already.
    const std::uint32_t before = word_.fetch_sub(1, std::memory_order_acquire);
    if (before == notified) return true;
    check(before == empty, "only its owner parks in a parker");
    while (Futex::wait(word_, parked, deadline)) {
      std::uint32_t seen = notified;
      // order: [park.token] acquire: what the waker did. Still parked: woken for no reason.
      if (word_.compare_exchange_strong(seen, empty, std::memory_order_acquire,
                                        std::memory_order_relaxed))
        return true;
    }
    // Takes back the sleep; a token that came at the last moment is consumed, not left behind.
    // order: [park.token] acquire: as above.
    return word_.exchange(empty, std::memory_order_acquire) == notified;
  }

  /// Owner: takes the token, if it is there, without sleeping. May miss one whose wake() is not
  /// ordered before the call by other means; park() does not.
  [[nodiscard]] bool try_consume() noexcept {
    // order: none; the exchange below orders.
    if (word_.load(std::memory_order_relaxed) != notified) return false;
    // order: [park.token] acquire: what the wakers did.
    word_.exchange(empty, std::memory_order_acquire);
    return true;
  }

  /// Any thread: leaves a token. True if the owner slept and had to be woken by a system call.
  bool wake() noexcept {
    // An exchange also if there is a token already: it adds what this waker did to that token.
    // order: [park.token] release: what the waker did, to the owner that consumes the token.
    if (word_.exchange(notified, std::memory_order_release) != parked) return false;
    Futex::wake_one(word_);
    return true;
  }

private:
  static constexpr std::uint32_t notified = 1;
  static constexpr std::uint32_t empty = 0;
  static constexpr std::uint32_t parked = empty - 1;

  typename Atomics::template atomic<std::uint32_t> word_{empty};
};

}  // namespace skua::inline SKUA_ABI
