// tests/base/duration_test.cpp: lengths of time become nanoseconds, exactly or as near as can be.
#include "skua/base/duration.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

namespace {

using skua::duration_like;
using skua::to_nanoseconds;
using std::chrono::duration;

constexpr auto largest = std::numeric_limits<std::int64_t>::max();
constexpr auto smallest = std::numeric_limits<std::int64_t>::min();

/// Not of std::chrono, but like it.
struct fortnights {
  using period = std::ratio<14LL * 24 * 3'600>;
  int number = 0;
  [[nodiscard]] constexpr int count() const { return number; }
};

static_assert(duration_like<std::chrono::seconds>);
static_assert(duration_like<duration<double, std::micro>>);
static_assert(duration_like<fortnights>);
static_assert(!duration_like<int>);
static_assert(!duration_like<std::chrono::steady_clock::time_point>);

// What can be said at compile time need not wait for the program to run.
static_assert(to_nanoseconds(std::chrono::seconds(3)) == 3'000'000'000);

TEST(duration, is_exact_in_whole_units) {
  EXPECT_EQ(to_nanoseconds(std::chrono::nanoseconds(7)), 7);
  EXPECT_EQ(to_nanoseconds(std::chrono::microseconds(7)), 7'000);
  EXPECT_EQ(to_nanoseconds(std::chrono::milliseconds(7)), 7'000'000);
  EXPECT_EQ(to_nanoseconds(std::chrono::seconds(-7)), -7'000'000'000);
  EXPECT_EQ(to_nanoseconds(std::chrono::minutes(7)), 420'000'000'000);
  EXPECT_EQ(to_nanoseconds(std::chrono::hours(7)), 25'200'000'000'000);
  EXPECT_EQ(to_nanoseconds(std::chrono::days(7)), 604'800'000'000'000);
  EXPECT_EQ(to_nanoseconds(std::chrono::years(1)), 31'556'952'000'000'000);
  EXPECT_EQ(to_nanoseconds(fortnights{2}), 2'419'200'000'000'000);
  EXPECT_EQ(to_nanoseconds(std::chrono::seconds(0)), 0);
  EXPECT_EQ(to_nanoseconds(duration<std::uint8_t>(200)), 200'000'000'000);
}

TEST(duration, agrees_with_the_librarys_own_conversion) {
  using std::chrono::nanoseconds;
  for (std::int64_t i = -1'000; i <= 1'000; ++i) {
    const duration<std::int64_t, std::ratio<1'001, 30'000>> frames(i);
    EXPECT_EQ(to_nanoseconds(frames), std::chrono::duration_cast<nanoseconds>(frames).count());
  }
}

TEST(duration, rounds_towards_zero) {
  using thirds = duration<std::int64_t, std::ratio<1, 3>>;
  EXPECT_EQ(to_nanoseconds(thirds(1)), 333'333'333);
  EXPECT_EQ(to_nanoseconds(thirds(2)), 666'666'666);
  EXPECT_EQ(to_nanoseconds(thirds(-1)), -333'333'333);
  using picoseconds = duration<std::int64_t, std::pico>;
  EXPECT_EQ(to_nanoseconds(picoseconds(1'999)), 1);
  EXPECT_EQ(to_nanoseconds(picoseconds(999)), 0);
  EXPECT_EQ(to_nanoseconds(picoseconds(-1'999)), -1);
  EXPECT_EQ(to_nanoseconds(duration<std::int64_t, std::atto>(largest)), 9'223'372'036);
}

TEST(duration, that_does_not_fit_becomes_the_largest_or_the_smallest) {
  EXPECT_EQ(to_nanoseconds(std::chrono::nanoseconds::max()), largest);
  EXPECT_EQ(to_nanoseconds(std::chrono::nanoseconds::min()), smallest);
  EXPECT_EQ(to_nanoseconds(std::chrono::microseconds::max()), largest);
  EXPECT_EQ(to_nanoseconds(std::chrono::hours::max()), largest);
  EXPECT_EQ(to_nanoseconds(std::chrono::hours::min()), smallest);
  EXPECT_EQ(to_nanoseconds(duration<std::int64_t, std::chrono::years::period>(largest)), largest);
  EXPECT_EQ(to_nanoseconds(duration<std::int64_t, std::chrono::years::period>(smallest)), smallest);
  EXPECT_EQ(to_nanoseconds(duration<std::uint64_t>(~std::uint64_t{0})), largest);
  EXPECT_EQ(to_nanoseconds(std::chrono::seconds(9'223'372'036)), 9'223'372'036'000'000'000);
  EXPECT_EQ(to_nanoseconds(std::chrono::seconds(9'223'372'037)), largest);
  EXPECT_EQ(to_nanoseconds(std::chrono::seconds(-9'223'372'036)), -9'223'372'036'000'000'000);
  EXPECT_EQ(to_nanoseconds(std::chrono::seconds(-9'223'372'037)), smallest);
}

TEST(duration, takes_fractions) {
  EXPECT_EQ(to_nanoseconds(duration<double>(0.5)), 500'000'000);
  EXPECT_EQ(to_nanoseconds(duration<float>(-0.25F)), -250'000'000);
  EXPECT_EQ(to_nanoseconds(duration<double, std::nano>(1.999)), 1);
  EXPECT_EQ(to_nanoseconds(duration<double, std::nano>(-1.999)), -1);
  EXPECT_EQ(to_nanoseconds(duration<double, std::milli>(1.5)), 1'500'000);
  EXPECT_EQ(to_nanoseconds(duration<long double, std::ratio<3'600>>(0.5L)), 1'800'000'000'000);
}

TEST(duration, of_fractions_that_does_not_fit_becomes_the_largest_or_the_smallest) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_nanoseconds(duration<double>(infinite)), largest);
  EXPECT_EQ(to_nanoseconds(duration<double>(-infinite)), smallest);
  EXPECT_EQ(to_nanoseconds(duration<double>(1e300)), largest);
  EXPECT_EQ(to_nanoseconds(duration<double>(-1e300)), smallest);
  EXPECT_EQ(to_nanoseconds(duration<double, std::nano>(9.3e18)), largest);
  EXPECT_EQ(to_nanoseconds(duration<double, std::nano>(-9.3e18)), smallest);
}

}  // namespace
