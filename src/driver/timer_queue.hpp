// src/driver/timer_queue.hpp: a driver's timers, and until when its owner sleeps for them.
#pragma once

#include "driver/timer_wheel.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/driver/timer.hpp"

#include <atomic>
#include <cstdint>
#include <limits>

namespace skua::inline SKUA_ABI {

/// A wheel with its clock and the sleep of its owner. The driver's lock covers all of it, but for
/// what is said to be for anybody.
class timer_queue {
public:
  /// `time` outlives the queue.
  explicit timer_queue(const clock& time) noexcept
      : time_(time),
        passes_by_itself_(dynamic_cast<const monotonic_clock*>(&time) != nullptr),
        looked_at_(time.now()),
        wheel_(looked_at_) {}

  /// True if the owner sleeps for longer than that, and has to be woken.
  [[nodiscard]] bool insert(timer& item) noexcept {
    wheel_.insert(item, looked_at_);  // an old time will do, and a look at the clock is dear
    // order: none; see may_have().
    has_timers_.store(true, std::memory_order_relaxed);
    return sleeps() && item.deadline < sleeps_until_;
  }

  /// The same, so many nanoseconds from now; a long time, from the owner's next look at the clock.
  /// That is no later than it would see any other timer's end, and most timeouts are over before.
  [[nodiscard]] bool insert_after(timer& item, std::int64_t nanoseconds) noexcept {
    if (nanoseconds < long_time || sleeps() || !passes_by_itself_) {
      item.deadline = moment_after(nanoseconds < 0 ? 0 : nanoseconds);
      return insert(item);
    }
    item.deadline = nanoseconds;
    wheel_.insert_length(item);
    // order: none; see may_have().
    has_timers_.store(true, std::memory_order_relaxed);
    return false;
  }

  bool remove(timer& item) noexcept { return wheel_.remove(item); }

  /// Moves those that are due behind the last of `due`.
  void take_due(timer_list& due) noexcept {
    looked_at_ = time_.now();
    wheel_.advance(looked_at_, due);
    // order: none; see may_have().
    has_timers_.store(!wheel_.empty(), std::memory_order_relaxed);
  }

  /// Anybody. The owner sees its own timers, and is woken for those of others.
  [[nodiscard]] bool may_have() const noexcept {
    // order: none; a hint, see above.
    return has_timers_.load(std::memory_order_relaxed);
  }

  /// The owner is about to sleep until then: a deadline of the queue's clock.
  std::int64_t begin_sleep() noexcept { return sleeps_until_ = next_deadline(); }
  void end_sleep() noexcept { sleeps_until_ = awake; }
  [[nodiscard]] bool sleeps() const noexcept { return sleeps_until_ != awake; }

  /// When the next one is due, or perhaps a little earlier; `no_deadline` if there is none.
  [[nodiscard]] std::int64_t next_deadline() noexcept {
    if (wheel_.has_lengths()) wheel_.begin_lengths(time_.now());
    return wheel_.next_deadline();
  }

  /// Anybody: nanoseconds from now to `deadline`, 0 if it is past; `no_deadline` if that is never,
  /// or if it does not come by itself.
  [[nodiscard]] std::int64_t left_until(std::int64_t deadline) const noexcept {
    if (deadline == no_deadline) return no_deadline;
    const std::int64_t now = time_.now();
    std::int64_t left = 0;
    if (deadline <= now) return 0;
    if (!time_.runs()) return no_deadline;
    return __builtin_sub_overflow(deadline, now, &left) ? no_deadline : left;
  }

  /// Anybody: a deadline so many nanoseconds from now.
  [[nodiscard]] std::int64_t moment_after(std::int64_t nanoseconds) const noexcept {
    std::int64_t then = 0;
    return __builtin_add_overflow(time_.now(), nanoseconds, &then) ? no_deadline : then;
  }

private:
  static constexpr std::int64_t awake = std::numeric_limits<std::int64_t>::min();

  static constexpr std::int64_t long_time = 1'000'000'000;

  const clock& time_;
  const bool passes_by_itself_;  // and not by the hand of a test, between two looks
  std::int64_t looked_at_;
  timer_wheel wheel_;
  std::int64_t sleeps_until_ = awake;
  std::atomic<bool> has_timers_{false};
};

}  // namespace skua::inline SKUA_ABI
