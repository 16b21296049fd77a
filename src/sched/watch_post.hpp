// src/sched/watch_post.hpp: who looks after workers that may be stuck while others sleep.
#pragma once

#include "skua/base/check.hpp"

#include <atomic>
#include <cstddef>
#include <vector>

namespace skua::inline SKUA_ABI {

/// While one worker is awake and another sleeps, one of the sleepers is the *guard*: its alarm goes
/// off every few milliseconds, and it looks at those that are awake. Nobody else pays for that, and
/// when all sleep, or all are awake, there is no guard.
///
/// An alarm can be set for a worker that sleeps already, without waking it. What the functions
/// answer is the worker whose alarm the caller sets now, at once and for certain; or `none`.
///
/// Nothing is missed: whoever changes its own state (awake or asleep) looks at the post afterwards,
/// and whoever changes the post looks at the states afterwards, all in one order.
template <typename Atomics>
class watch_post {
public:
  static constexpr std::size_t none = ~std::size_t{0};

  /// All workers are awake.
  explicit watch_post(std::size_t workers) : asleep_(workers) {}
  watch_post(const watch_post&) = delete;
  watch_post& operator=(const watch_post&) = delete;

  /// Any thread.
  [[nodiscard]] bool is_asleep(std::size_t worker) const noexcept {
    // order: [watch.post] seq_cst: before or after the change of the post that the caller made.
    return asleep_[worker].load(std::memory_order_seq_cst);
  }

  /// A worker that is about to sleep.
  [[nodiscard]] std::size_t sleeps(std::size_t worker) noexcept {
    // order: [watch.post] seq_cst: then a look at the post.
    asleep_[worker].store(true, std::memory_order_seq_cst);
    return fill(none);
  }

  /// A worker that has slept.
  [[nodiscard]] std::size_t wakes(std::size_t worker) noexcept {
    // order: [watch.post] seq_cst: then a look at the post.
    asleep_[worker].store(false, std::memory_order_seq_cst);
    return fill(worker);
  }

  /// The guard, asleep, when its alarm has gone off and it has looked. It sleeps on.
  [[nodiscard]] std::size_t alarm_went_off(std::size_t worker) noexcept {
    // order: [watch.post] seq_cst: before the look at the states.
    if (guard_.load(std::memory_order_seq_cst) != worker) return none;  // an old alarm
    if (somebody_is(false) != none) return worker;
    return fill(worker);
  }

private:
  /// A worker that is asleep, or one that is awake; or none.
  [[nodiscard]] std::size_t somebody_is(bool asleep) const noexcept {
    for (std::size_t i = 0; i < asleep_.size(); ++i)
      if (is_asleep(i) == asleep) return i;
    return none;
  }

  [[nodiscard]] std::size_t wanted() const noexcept {
    return somebody_is(false) == none ? none : somebody_is(true);
  }

  // If the post is `from`'s, or nobody's, gives it to whom it should belong now, and says to whom:
  // perhaps to `from` again, if somebody woke in the meantime.
  std::size_t fill(std::size_t from) noexcept {
    // order: [watch.post] seq_cst: after the change of the caller's state.
    std::size_t seen = guard_.load(std::memory_order_seq_cst);
    std::size_t alarm = none;
    while (seen == from || seen == none) {
      const std::size_t next = wanted();
      if (next == seen) return next;  // if that is none: whoever changes it looks after us
      // order: [watch.post] seq_cst: before another look at the states.
      if (!guard_.compare_exchange_strong(seen, next, std::memory_order_seq_cst,
                                          std::memory_order_seq_cst))
        continue;
      seen = from = alarm = next;
      if (next != none && is_asleep(next)) break;
    }
    return alarm;
  }

  typename Atomics::template atomic<std::size_t> guard_{none};
  std::vector<typename Atomics::template atomic<bool>> asleep_;
};

}  // namespace skua::inline SKUA_ABI
