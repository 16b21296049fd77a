// src/driver/parker.hpp: sleep and wake of one thread.
#pragma once

#include "driver/park_word.hpp"

#include <atomic>
#include <cstdint>
#include <limits>

namespace skua::inline SKUA_ABI {

/// Sleep and wake of one thread, its *owner*, on a park_word.
///
/// A token says that somebody woke, not who or why, and may be left over from a wake that the owner
/// had no need of. So an owner looks at all that it sleeps for after each park(), and whoever
/// counts sleepers counts by something else (idle).
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

  /// Owner: sleeps until woken, or until `deadline` (nanoseconds of CLOCK_MONOTONIC) has passed.
  /// True if a token was consumed; false, never before the deadline, if there was none.
  bool park(std::int64_t deadline) noexcept {
    if (!word_.announce()) return true;
    while (Futex::wait(word_.raw(), word_.parked, deadline))
      if (word_.try_end()) return true;
    return word_.end();
  }

  /// Owner: takes the token, if it is there, without sleeping. See park_word.
  [[nodiscard]] bool try_consume() noexcept { return word_.try_consume(); }

  /// Any thread: leaves a token. True if the owner slept and had to be woken by a system call.
  bool wake() noexcept {
    if (!word_.notify()) return false;
    Futex::wake_one(word_.raw());
    return true;
  }

private:
  park_word<Atomics> word_;
};

}  // namespace skua::inline SKUA_ABI
