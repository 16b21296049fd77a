// tests/tool/latencies_test.cpp: latencies are counted in narrow buckets, and none is lost.
#include "latencies.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace {

using skua_tool::latencies;
using skua_tool::latency_buckets;
using skua_tool::latency_counts;

TEST(latency_buckets, follow_each_other_without_a_gap) {
  std::int64_t lower = 0;
  for (std::size_t bucket = 0; bucket < latency_buckets::over; ++bucket) {
    const std::int64_t upper = latency_buckets::upper_bound(bucket);
    ASSERT_LT(lower, upper);
    ASSERT_EQ(latency_buckets::of(lower), bucket);
    ASSERT_EQ(latency_buckets::of(upper - 1), bucket);
    lower = upper;
  }
  EXPECT_EQ(lower, std::int64_t{1} << 36);
  EXPECT_EQ(latency_buckets::of(lower), latency_buckets::over);
  EXPECT_EQ(latency_buckets::of(std::numeric_limits<std::int64_t>::max()), latency_buckets::over);
}

TEST(latency_buckets, end_at_most_a_32nd_later_than_the_one_before) {
  for (std::size_t bucket = 32; bucket < latency_buckets::over; ++bucket) {
    const std::int64_t lower = latency_buckets::upper_bound(bucket - 1);
    ASSERT_LE((latency_buckets::upper_bound(bucket) - lower) * 32, lower);
  }
}

TEST(latencies, tell_p99_apart_from_one_that_is_a_tenth_more) {
  latencies one;
  latencies other;
  for (int i = 0; i < 100; ++i) {
    one.record(100'000);
    other.record(110'000);
  }
  const double ratio = static_cast<double>(other.snapshot().quantile(0.99)) /
                       static_cast<double>(one.snapshot().quantile(0.99));
  EXPECT_NEAR(ratio, 1.1, 0.04);
}

TEST(latencies, have_quantiles_of_which_none_is_above_the_largest) {
  latencies times;
  for (std::int64_t i = 1; i <= 1'000; ++i) times.record(i * 1'000);
  const latency_counts seen = times.snapshot();
  EXPECT_EQ(seen.count(), 1'000U);
  EXPECT_EQ(seen.largest, 1'000'000);
  EXPECT_DOUBLE_EQ(seen.mean(), 500'500.0);
  for (const double q : {0.01, 0.5, 0.9, 0.99}) {
    const auto exact = q * 1e6;
    EXPECT_GE(static_cast<double>(seen.quantile(q)), exact);
    EXPECT_LE(static_cast<double>(seen.quantile(q)), exact * 33 / 32 + 1);
  }
  EXPECT_EQ(seen.quantile(1), 1'000'000);
}

TEST(latencies, take_what_is_out_of_range) {
  latencies times;
  EXPECT_EQ(times.snapshot().quantile(0.5), 0);
  times.record(-5);
  EXPECT_EQ(times.snapshot().quantile(1), 0);
  times.record(std::int64_t{1} << 40);
  EXPECT_EQ(times.snapshot().quantile(1), std::int64_t{1} << 40);
  EXPECT_EQ(times.snapshot().count(), 2U);
}

TEST(latencies, of_several_are_added) {
  latencies one;
  latencies other;
  one.record(10);
  other.record(20);
  latency_counts both = one.snapshot();
  both += other.snapshot();
  EXPECT_EQ(both.count(), 2U);
  EXPECT_EQ(both.sum, 30U);
  EXPECT_EQ(both.largest, 20);
}

TEST(latencies, lose_nothing_that_threads_record_at_once) {
  constexpr std::int64_t each = 20'000;
  latencies times;
  std::vector<std::thread> all;
  for (std::int64_t one = 0; one < 4; ++one)
    all.emplace_back([&times, one] {
      for (std::int64_t i = 0; i < each; ++i) times.record(i * 4 + one);
    });
  for (std::thread& one : all) one.join();
  const latency_counts seen = times.snapshot();
  EXPECT_EQ(seen.count(), 4U * each);
  EXPECT_EQ(seen.largest, 4 * each - 1);
  EXPECT_EQ(seen.sum, static_cast<std::uint64_t>(each * 4) * (each * 4 - 1) / 2);
}

}  // namespace
