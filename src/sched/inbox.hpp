// src/sched/inbox.hpp: what other threads leave for one that takes it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/cache_line.hpp"
#include "skua/base/check.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <atomic>
#include <cstddef>

namespace skua::inline SKUA_ABI {

/// Many push, one thread at a time, the *owner*, takes; no locks. What one thread pushes is taken
/// in its order. An empty inbox costs the owner one load.
///
/// Whoever finds it empty wakes the owner after the push; those who come later rely on that. So the
/// owner has to look once more after it has announced its sleep, or the wake has to leave a token.
template <typename Atomics>
class alignas(interference_distance) inbox {
public:
  inbox() = default;
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;
  ~inbox() { check(empty(), "an inbox dies empty"); }

  /// Any thread. True if it was empty: the caller wakes the owner. From here on the item is the
  /// owner's.
  [[nodiscard]] bool push(work& item) noexcept {
    // order: none; a number that stands for itself. Before the item can be taken, so that the
    //        length is never below nothing.
    posted_.fetch_add(1, std::memory_order_relaxed);
    // order: none; the exchange below decides.
    work* seen = newest_.load(std::memory_order_relaxed);
    do {
      item.next = seen;
      // order: [inbox.item] release: the item, to the owner.
    } while (!newest_.compare_exchange_weak(seen, &item, std::memory_order_release,
                                            std::memory_order_relaxed));
    return seen == nullptr;
  }

  /// Owner: moves all there is behind the last of `to`, the oldest first. Their number.
  std::size_t take_all(work_queue& to) noexcept {
    if (empty()) return 0;
    // order: [inbox.item] acquire: the items.
    work* newest = newest_.exchange(nullptr, std::memory_order_acquire);
    work_queue all;
    while (newest != nullptr) {
      work* const one = newest;
      newest = one->next;
      one->next = nullptr;
      all.push_front(*one);
    }
    const std::size_t count = all.size();
    // order: none; only the owner writes it, and see push().
    taken_.store(taken_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    to.append(all);
    return count;
  }

  [[nodiscard]] bool empty() const noexcept {
    // order: none; the items are reached by an exchange.
    return newest_.load(std::memory_order_relaxed) == nullptr;
  }

  /// Any thread; may be out of date.
  [[nodiscard]] std::size_t size() const noexcept {
    // order: none; read first, so that it is the smaller of the two.
    const std::size_t taken = taken_.load(std::memory_order_relaxed);
    // order: none; as above.
    const std::size_t posted = posted_.load(std::memory_order_relaxed);
    return posted > taken ? posted - taken : 0;
  }

private:
  typename Atomics::template atomic<work*> newest_{nullptr};
  typename Atomics::template atomic<std::size_t> posted_{0};
  // Written by the owner; away from what others write.
  alignas(interference_distance) typename Atomics::template atomic<std::size_t> taken_{0};
};

}  // namespace skua::inline SKUA_ABI
