// tests/base/clock_test.cpp: time does not go back, and a test can hold it still.
#include "skua/base/clock.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <cstdint>
#include <limits>
#include <thread>

namespace {

using skua::clock;
using skua::manual_clock;
using skua::monotonic_clock;

std::int64_t kernels_time() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

TEST(monotonic_clock, reads_the_kernels_clock_in_nanoseconds) {
  const monotonic_clock real;
  const std::int64_t before = kernels_time();
  const std::int64_t now = real.now();
  const std::int64_t after = kernels_time();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(monotonic_clock, goes_on_and_never_back) {
  const monotonic_clock real;
  const clock& seam = real;
  const std::int64_t start = seam.now();
  for (std::int64_t last = start; last < start + 1'000'000;) {
    const std::int64_t now = seam.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(manual_clock, stands_still_until_it_is_advanced) {
  manual_clock manual;
  const clock& seam = manual;
  EXPECT_EQ(seam.now(), 0);
  EXPECT_EQ(seam.now(), 0);
  manual.advance(1'500);
  EXPECT_EQ(seam.now(), 1'500);
  manual.advance(0);
  manual.advance(1);
  EXPECT_EQ(seam.now(), 1'501);
}

TEST(manual_clock, starts_where_it_is_told) {
  EXPECT_EQ(manual_clock(-5).now(), -5);
}

TEST(manual_clock, loses_no_advance_of_several_threads) {
  constexpr int each = 10'000;
  manual_clock manual;
  const auto advance = [&manual] {
    for (int n = 0; n < each; ++n) manual.advance(3);
  };
  std::thread one(advance);
  std::thread two(advance);
  std::int64_t last = 0;
  for (int n = 0; n < each; ++n) {
    const std::int64_t now = manual.now();
    ASSERT_GE(now, last);
    last = now;
  }
  one.join();
  two.join();
  EXPECT_EQ(manual.now(), 2 * each * 3);
}

// ThreadSanitizer reports this one if the order of either side is weakened.
TEST(manual_clock, shows_what_was_written_before_the_new_time) {
  manual_clock manual;
  int written = 0;
  std::thread writer([&] {
    written = 7;
    manual.advance(1);
  });
  while (manual.now() == 0) std::this_thread::yield();
  EXPECT_EQ(written, 7);
  writer.join();
}

TEST(manual_clock, refuses_to_go_back_or_past_the_end) {
  manual_clock manual;
  EXPECT_DEATH(manual.advance(-1), "a clock never goes back");
  manual.advance(std::numeric_limits<std::int64_t>::max());
  EXPECT_DEATH(manual.advance(1), "within what an int64 can hold");
}

}  // namespace
