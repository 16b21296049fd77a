// skua/time/instant.hpp: a moment by the clock of a runtime.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/time/time_span.hpp"

#include <compare>
#include <cstdint>
#include <limits>

namespace skua::inline SKUA_ABI {

/// A std::chrono::time_point of std::chrono::steady_clock, or anything like it. One of a clock that
/// can be set (system_clock) is none.
template <typename T>
concept steady_time_point = requires(const T point) {
  { point.time_since_epoch() } -> duration_like;
  requires T::clock::is_steady;
};

/// `now() + 10s`. A plain number that is compared, added to and kept as one likes. What lies beyond
/// the last moment there is becomes never().
///
/// A time point of std::chrono::steady_clock is one, too: that clock is CLOCK_MONOTONIC, which
/// runtimes go by unless config says otherwise. Where time is virtual or a test's own, use now().
class instant {
public:
  /// The beginning of the clock.
  constexpr instant() = default;
  /// A moment of std::chrono::steady_clock, which is the clock of a runtime unless that has
  /// another.
  template <steady_time_point TimePoint>
  constexpr instant(TimePoint point) noexcept : since_(to_nanoseconds(point.time_since_epoch())) {}
  /// So many after the beginning of the clock.
  [[nodiscard]] static constexpr instant of_nanoseconds(std::int64_t since_beginning) noexcept {
    instant made;
    made.since_ = since_beginning;
    return made;
  }
  /// Later than any moment that comes.
  [[nodiscard]] static constexpr instant never() noexcept {
    return of_nanoseconds(std::numeric_limits<std::int64_t>::max());
  }

  /// Nanoseconds of the clock.
  [[nodiscard]] constexpr std::int64_t nanoseconds() const noexcept { return since_; }

  /// What is past the last moment is never().
  friend constexpr instant operator+(instant from, time_span length) noexcept {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(from.since_, length.count(), &sum)) return of_nanoseconds(sum);
    return length.count() < 0 ? first() : never();
  }
  /// What is before the first moment is that.
  friend constexpr instant operator-(instant from, time_span length) noexcept {
    std::int64_t rest = 0;
    if (!__builtin_sub_overflow(from.since_, length.count(), &rest)) return of_nanoseconds(rest);
    return length.count() < 0 ? never() : first();
  }
  /// The time from `begin` to `end`.
  friend constexpr time_span operator-(instant end, instant begin) noexcept {
    std::int64_t between = 0;
    if (!__builtin_sub_overflow(end.since_, begin.since_, &between))
      return time_span::of_nanoseconds(between);
    return time_span::of_nanoseconds(end < begin ? std::numeric_limits<std::int64_t>::min()
                                                 : std::numeric_limits<std::int64_t>::max());
  }
  /// The earlier is less.
  friend constexpr auto operator<=>(instant, instant) noexcept = default;
  /// The same moment.
  friend constexpr bool operator==(instant, instant) noexcept = default;

private:
  static constexpr instant first() noexcept {
    return of_nanoseconds(std::numeric_limits<std::int64_t>::min());
  }

  std::int64_t since_ = 0;
};

/// By the clock of the runtime that runs the calling code; elsewhere by CLOCK_MONOTONIC. Use it
/// rather than std::chrono::steady_clock::now(), so that tests with virtual time see that one.
[[nodiscard, gnu::visibility("default")]] instant now() noexcept;

}  // namespace skua::inline SKUA_ABI
