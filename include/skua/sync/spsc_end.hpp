// skua/sync/spsc_end.hpp: how far one end of a queue has come, and whether the other waits for it.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// A queue of one producer and one consumer has two: of the producer, who counts what it has put
/// in, and of the consumer, who counts what it has taken out. The *owner* counts; the *other*
/// looks, and waits for more. One word holds all of it, so that neither can miss what the other
/// does: who moves on sees in the same step whether somebody waits.
///
/// The word: count, and two bits:
///   closed   set by the owner: it will not come further.
///   waiting  set by the other, before it sleeps. Who clears it decides: the owner, who then wakes
///            the other, or the other, who does not wait any more.
template <typename Atomics>
class spsc_end {
public:
  struct position {
    std::uint64_t count;
    bool closed;
  };

  // The owner.

  /// True if the other waited: the caller is the one who wakes it.
  [[nodiscard]] bool advance_to(std::uint64_t count) noexcept {
    // order: [spsc.move] release: what it has put into a place, or that it is done with it.
    //        [spsc.wait] acquire: who waits.
    return (word_.exchange(count << shift, std::memory_order_acq_rel) & waiting) != 0;
  }
  /// The last thing it does. True as above.
  [[nodiscard]] bool close() noexcept {
    // order: none; only the owner counts.
    const std::uint64_t now = word_.load(std::memory_order_relaxed) & ~waiting;
    // order: [spsc.wait] acquire: who waits. What it did before goes with its last advance: this
    //        continues that release.
    return (word_.exchange(now | closed, std::memory_order_acquire) & waiting) != 0;
  }

  // The other.

  [[nodiscard]] position look() const noexcept {
    // order: [spsc.move] acquire: what the owner did on the way.
    const std::uint64_t seen = word_.load(std::memory_order_acquire);
    return {seen >> shift, (seen & closed) != 0};
  }

  /// After it has written down who waits. False if the owner is not at `count` any more, or has
  /// closed: look again. After true the owner wakes it, unless it withdraws.
  [[nodiscard]] bool wait_at(std::uint64_t count) noexcept {
    std::uint64_t expected = count << shift;
    // order: [spsc.wait] release: who waits, to the owner.
    return word_.compare_exchange_strong(expected, expected | waiting, std::memory_order_release,
                                         std::memory_order_relaxed);
  }

  /// False if the owner was first, and wakes it.
  [[nodiscard]] bool withdraw() noexcept {
    // order: none; nothing is handed over.
    return (word_.fetch_and(~waiting, std::memory_order_relaxed) & waiting) != 0;
  }

private:
  static constexpr std::uint64_t waiting = 1;
  static constexpr std::uint64_t closed = 2;
  static constexpr int shift = 2;

  typename Atomics::template atomic<std::uint64_t> word_{0};
};

}  // namespace skua::inline SKUA_ABI
