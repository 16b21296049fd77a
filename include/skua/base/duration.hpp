// skua/base/duration.hpp: takes lengths of time from std::chrono without paying for its header.
#pragma once

#include "skua/base/abi.hpp"

#include <concepts>
#include <cstdint>
#include <limits>

namespace skua::inline SKUA_ABI {

/// std::chrono::duration, or anything like it.
template <typename T>
concept duration_like = requires(const T length) {
  { length.count() } -> std::convertible_to<long double>;
  { T::period::num } -> std::convertible_to<std::intmax_t>;
  { T::period::den } -> std::convertible_to<std::intmax_t>;
};

__extension__ typedef __int128 int128;  // g++ calls it pedantically no type

/// Rounded towards zero; what does not fit becomes the largest or smallest number that does.
template <duration_like Duration>
[[nodiscard]] constexpr std::int64_t to_nanoseconds(Duration length) noexcept {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
  constexpr auto num = static_cast<int128>(Duration::period::num) * 1'000'000'000;
  constexpr auto den = static_cast<int128>(Duration::period::den);
  if constexpr (std::integral<decltype(length.count())>) {
    // 128 bits hold the product of an int64 and 10^9 times the numerator of any unit up to a year.
    const int128 exact = static_cast<int128>(length.count()) * (num / den) +
                         static_cast<int128>(length.count()) * (num % den) / den;
    if (exact > largest) return largest;
    if (exact < smallest) return smallest;
    return static_cast<std::int64_t>(exact);
  } else {
    const long double exact = static_cast<long double>(length.count()) *
                              static_cast<long double>(num) / static_cast<long double>(den);
    if (exact >= static_cast<long double>(largest)) return largest;
    if (exact <= static_cast<long double>(smallest)) return smallest;
    return static_cast<std::int64_t>(exact);
  }
}

}  // namespace skua::inline SKUA_ABI
