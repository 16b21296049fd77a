// skua/driver/timer.hpp: one wait for a moment, as a driver's wheel links it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/intrusive_list.hpp"

#include <cstdint>
#include <limits>

namespace skua::inline SKUA_ABI {

/// Later than any moment that comes. A timer may have it; it is handed out at that instant only.
inline constexpr std::int64_t no_deadline = std::numeric_limits<std::int64_t>::max();

/// Lives in the operation that waits, and belongs to it throughout: a wheel only links it. The
/// states:
///   idle        on no list.
///   in a wheel  linked() is true; insert() leads here, remove() back to idle.
///   handed out  on a list that advance() filled, which belongs to its caller; popping it there
///               leads back to idle. is_linked() of the list link is true, linked() is not.
struct timer : list_link<timer> {
  using fire_function = void (*)(timer&) noexcept;

  explicit timer(fire_function when_due) noexcept : fire(when_due) {}

  /// In a wheel, so that remove() would take it out. Changes only under the lock that covers the
  /// wheel, whereas what was handed out may be popped outside it.
  [[nodiscard]] bool linked() const noexcept { return slot_ != no_slot; }

  /// Nanoseconds of skua::clock, any value. Not changed while in a wheel, but by that.
  std::int64_t deadline = no_deadline;
  /// For the driver, which calls it outside its lock once it has popped the timer from the list of
  /// those handed out. The timer may be inserted again in it, or be gone when it returns. A wheel
  /// never calls it. Null: the timeout of an operation, which its driver sees to.
  fire_function fire;

private:
  friend class timer_wheel;
  static constexpr std::uint16_t no_slot = 0xffff;
  static constexpr std::uint16_t not_begun = 0xfffe;

  std::uint16_t slot_ = no_slot;
};

/// Its link has a tag: an operation is a timer, too, and may be on a list besides.
using timer_list = intrusive_list<timer, timer>;

}  // namespace skua::inline SKUA_ABI
