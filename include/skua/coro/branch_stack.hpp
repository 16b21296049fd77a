// skua/coro/branch_stack.hpp: the branches of a task that are ready to go on, and its sleep.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <atomic>

namespace skua::inline SKUA_ABI {

/// The *owner* is whoever runs the branches, one thread at a time. Any thread pushes what has
/// become ready. One word holds both the list and whether the owner rests, so that whoever pushes
/// need not touch this again afterwards, unless it has to wake the owner: meanwhile the owner may
/// have run the branch, ended, and taken this along.
///
/// The word:
///   null       nothing is ready, and the owner looks again before it rests
///   itself     nothing is ready, and the owner rests
///   otherwise  the newest of those that are ready, linked to the older ones
template <typename Atomics>
class branch_stack {
public:
  branch_stack() noexcept : mark_(never), top_(nullptr) {}
  branch_stack(const branch_stack&) = delete;
  branch_stack& operator=(const branch_stack&) = delete;
  ~branch_stack() {
    // order: none; nobody else uses it now.
    check(top_.load(std::memory_order_relaxed) == nullptr, "a task ends after its branches");
  }

  /// Any thread. True if the owner rested: the caller is the one who wakes it.
  [[nodiscard]] bool push(work& item) noexcept {
    // order: none; the exchange below decides.
    work* seen = top_.load(std::memory_order_relaxed);
    do {
      item.next = seen == &mark_ ? nullptr : seen;
      // order: [branch.ready] release: what made it ready, to the owner.
      //        [branch.rest] acquire: how the owner is woken.
    } while (!top_.compare_exchange_weak(seen, &item, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
    return seen == &mark_;
  }

  /// Owner, which does not rest: something is ready. May miss what is just being pushed; rest()
  /// does not, and what the owner was woken for is there.
  [[nodiscard]] bool some() const noexcept {
    // order: none; take_all() orders.
    return top_.load(std::memory_order_relaxed) != nullptr;
  }

  /// Owner: all that are ready, the oldest first. May miss the same.
  [[nodiscard]] work_queue take_all() noexcept {
    work_queue all;
    if (!some()) return all;
    // order: [branch.ready] acquire: what made them ready.
    work* newest = top_.exchange(nullptr, std::memory_order_acquire);
    check(newest != &mark_, "who rests does not look");
    while (newest != nullptr) {
      work* const one = newest;
      newest = one->next;
      one->next = nullptr;
      all.push_front(*one);
    }
    return all;
  }

  /// Owner: rests, unless something is ready. After true it is woken once, by whoever pushes next.
  [[nodiscard]] bool rest() noexcept {
    work* expected = nullptr;
    // order: [branch.rest] release: how it is woken, to whoever does.
    return top_.compare_exchange_strong(expected, &mark_, std::memory_order_release,
                                        std::memory_order_relaxed);
  }

private:
  static void never(work& /*mark*/) noexcept {}

  work mark_;
  typename Atomics::template atomic<work*> top_;
};

}  // namespace skua::inline SKUA_ABI
