// skua/time/time_span.hpp: a length of time, between two instants.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>

namespace skua::inline SKUA_ABI {

/// Nanoseconds. Made of any std::chrono::duration, taken wherever one is (sleep, timeout), and
/// compared with one: `if (now() - begun > 10ms)`. What does not fit becomes the longest span.
class time_span {
public:
  /// For those who take durations as std::chrono writes them.
  struct period {
    static constexpr std::intmax_t num = 1;              ///< as std::ratio has it
    static constexpr std::intmax_t den = 1'000'000'000;  ///< as std::ratio has it: nanoseconds
  };
  using rep = std::int64_t;  ///< of count()

  constexpr time_span() = default;
  /// Of std::chrono, or alike. Rounded towards zero; what does not fit is as long as can be.
  template <duration_like Duration>
    requires(!std::same_as<Duration, time_span>)
  constexpr time_span(Duration length) noexcept : count_(to_nanoseconds(length)) {}
  /// So many; may be negative.
  [[nodiscard]] static constexpr time_span of_nanoseconds(std::int64_t count) noexcept {
    time_span made;
    made.count_ = count;
    return made;
  }
  /// Longer than anybody waits.
  [[nodiscard]] static constexpr time_span longest() noexcept {
    return of_nanoseconds(std::numeric_limits<std::int64_t>::max());
  }

  /// Nanoseconds.
  [[nodiscard]] constexpr std::int64_t count() const noexcept { return count_; }

  /// `to<std::chrono::milliseconds>()`. Rounded towards zero if that counts in whole numbers.
  template <duration_like Duration>
  [[nodiscard]] constexpr Duration to() const noexcept {
    using number = typename Duration::rep;
    constexpr auto num = Duration::period::num;
    constexpr auto den = Duration::period::den;
    if constexpr (std::integral<number>)
      return Duration(static_cast<number>(static_cast<int128>(count_) * den / num / period::den));
    else
      return Duration(static_cast<number>(static_cast<long double>(count_) * den / num /
                                          static_cast<long double>(period::den)));
  }

  /// The shorter is less.
  friend constexpr auto operator<=>(time_span, time_span) noexcept = default;
  /// Of the same length.
  friend constexpr bool operator==(time_span, time_span) noexcept = default;

private:
  std::int64_t count_ = 0;
};

}  // namespace skua::inline SKUA_ABI
