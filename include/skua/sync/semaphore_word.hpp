// skua/sync/semaphore_word.hpp: how many permits are free, and whether anybody waits for some.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Permits are taken and given back with one exchange each while nobody waits; otherwise under the
/// lock of the line, so that nobody overtakes those who wait.
///
/// The word: the number of free permits, and two bits.
///   awaited   somebody is in line. The word changes under the lock only.
///   closed    for good. Nothing is taken any more; what is given back is counted.
template <typename Atomics>
class semaphore_word {
public:
  static constexpr std::uint64_t most = ~std::uint64_t{0} >> 2;

  explicit semaphore_word(std::uint64_t permits) noexcept : word_(word_of(permits)) {}

  /// False if there are not as many, if somebody waits, or if it is closed.
  [[nodiscard]] bool try_acquire(std::uint64_t count) noexcept {
    // order: none; the exchange decides.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & (awaited | closed)) == 0 && permits_in(seen) >= count) {
      // order: [semaphore.permits] acquire: what those did who gave them back.
      if (word_.compare_exchange_weak(seen, seen - word_of(count), std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  /// False if somebody waits: go on under the lock.
  [[nodiscard]] bool try_release(std::uint64_t count) noexcept {
    // order: none; the exchange decides.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & awaited) == 0) {
      check_room(seen, count);
      // order: [semaphore.permits] release: what we did, to whoever takes them.
      if (word_.compare_exchange_weak(seen, seen + word_of(count), std::memory_order_release,
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  // Under the lock of the line. All of these are exchanges: a store would hide from the next taker
  // what those did who gave back before it.

  enum class answer : unsigned char { acquired, waits, closed };

  /// `waits`: the caller joins the line. No permits at all are always there.
  [[nodiscard]] answer acquire_or_wait(std::uint64_t count) noexcept {
    // order: none; the exchange decides.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((seen & closed) != 0) return answer::closed;
      if (count == 0) return answer::acquired;
      if ((seen & awaited) != 0) return answer::waits;
      const bool enough = permits_in(seen) >= count;
      // order: [semaphore.permits] acquire: what those did who gave them back, for us or for all
      // who are in line from now on.
      if (word_.compare_exchange_weak(seen, enough ? seen - word_of(count) : seen | awaited,
                                      std::memory_order_acquire, std::memory_order_relaxed))
        return enough ? answer::acquired : answer::waits;
    }
  }

  /// For who is first in line; false if there are not as many.
  [[nodiscard]] bool acquire_in_line(std::uint64_t count) noexcept {
    // order: none; what was given back before anybody waited the first in line has acquired, and
    // since then the word changes under the lock only.
    if (permits_in(word_.load(std::memory_order_relaxed)) < count) return false;
    word_.fetch_sub(word_of(count), std::memory_order_relaxed);
    return true;
  }

  /// Whether or not anybody waits.
  void release(std::uint64_t count) noexcept {
    // order: [semaphore.permits] release: what we did, to whoever takes them when nobody waits.
    check_room(word_.fetch_add(word_of(count), std::memory_order_release), count);
  }

  /// Nobody is in line any more.
  void line_is_empty() noexcept {
    // order: none; the permits keep the orders they were given back with.
    word_.fetch_and(~awaited, std::memory_order_relaxed);
  }

  void close() noexcept {
    // order: none; who finds it closed looks again under the lock.
    word_.fetch_or(closed, std::memory_order_relaxed);
  }

  // May be out of date, unless under the lock.

  [[nodiscard]] std::uint64_t available() const noexcept {
    // order: none; a look.
    return permits_in(word_.load(std::memory_order_relaxed));
  }
  [[nodiscard]] bool is_closed() const noexcept {
    // order: none; a look.
    return (word_.load(std::memory_order_relaxed) & closed) != 0;
  }

private:
  static constexpr std::uint64_t awaited = 1;
  static constexpr std::uint64_t closed = 2;

  static constexpr std::uint64_t word_of(std::uint64_t permits) noexcept { return permits << 2; }
  static constexpr std::uint64_t permits_in(std::uint64_t word) noexcept { return word >> 2; }
  static void check_room(std::uint64_t word, std::uint64_t count) noexcept {
    check(count <= most - permits_in(word), "a semaphore has at most 2^62 - 1 permits");
  }

  typename Atomics::template atomic<std::uint64_t> word_;
};

}  // namespace skua::inline SKUA_ABI
