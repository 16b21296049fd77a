// skua/base/random.hpp: a small, fast, reproducible source of random numbers; not for secrets.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

#include <cstdint>
#include <initializer_list>

namespace skua::inline SKUA_ABI {

/// xoroshiro128++ of Blackman and Vigna: the same seed gives the same numbers on every machine and
/// in every version. Also a std::uniform_random_bit_generator. One thread at a time; give each
/// worker its own by split().
class random_generator {
public:
  /// As std::uniform_random_bit_generator wants it.
  using result_type = std::uint64_t;

  /// Seeds that differ, however little, give unrelated sequences.
  explicit random_generator(std::uint64_t seed) noexcept
      : low_(mixed(seed + weyl_step)), high_(mixed(seed + 2 * weyl_step)) {}

  /// Any of the 2^64 values, each as likely as another.
  std::uint64_t next() noexcept {
    const std::uint64_t number = rotated(low_ + high_, 17) + low_;
    step();
    return number;
  }

  /// One of 0 ... bound - 1, each exactly as likely as another. `bound` is not 0.
  std::uint64_t below(std::uint64_t bound) noexcept {
    check(bound != 0, "a random number below zero does not exist");
    // Lemire: the upper half of number * bound is the answer. Of the 2^64 numbers, 2^64 % bound are
    // too many for equal shares; they are those whose lower half falls below that remainder. It is
    // always less than bound, so the division is needed only if the lower half is less too.
    wide product = static_cast<wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) [[unlikely]] {
      const std::uint64_t surplus = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < surplus)
        product = static_cast<wide>(next()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// A generator that goes on from here for 2^64 numbers, which this one skips: the two never
  /// overlap, nor do those of later splits. Do not split the generator that was given away.
  [[nodiscard]] random_generator split() noexcept {
    const random_generator given_away = *this;
    skip();
    return given_away;
  }

  /// The same as next(), for the distributions of the standard library.
  std::uint64_t operator()() noexcept { return next(); }
  /// The least number that next() gives.
  static constexpr std::uint64_t min() noexcept { return 0; }
  /// The greatest number that next() gives.
  static constexpr std::uint64_t max() noexcept { return ~std::uint64_t{0}; }

private:
  __extension__ typedef unsigned __int128 wide;

  static constexpr std::uint64_t weyl_step = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

  static std::uint64_t rotated(std::uint64_t bits, int left) noexcept {
    return bits << left | bits >> (64 - left);
  }

  // The output function of splitmix64. One to one, so that the two words of the state differ and
  // cannot both be zero, the one state from which xoroshiro never moves.
  static std::uint64_t mixed(std::uint64_t bits) noexcept {
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
  }

  void step() noexcept {
    high_ ^= low_;
    low_ = rotated(low_, 49) ^ high_ ^ high_ << 21;
    high_ = rotated(high_, 28);
  }

  // 2^64 steps at once. A step is linear over bits, so any number of steps is a polynomial in it of
  // degree below 128: the sum of the states after those steps whose coefficient is one.
  void skip() noexcept {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    for (const std::uint64_t coefficients : {0x2bd7a6a6e99c2ddcU, 0x0992ccaf6a6fca05U}) {
      for (int power = 0; power < 64; ++power) {
        if ((coefficients >> power & 1) != 0) {
          low ^= low_;
          high ^= high_;
        }
        step();
      }
    }
    low_ = low;
    high_ = high;
  }

  std::uint64_t low_;
  std::uint64_t high_;
};

}  // namespace skua::inline SKUA_ABI
