// tests/runtime/histogram_test.cpp: every number has one bucket, and quantiles err upwards only.
#include "skua/runtime/histogram.hpp"

#include "skua/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using skua::histogram;

histogram of(std::initializer_list<std::int64_t> numbers) {
  histogram made;
  for (const std::int64_t number : numbers) {
    ++made.counts[histogram::bucket_of(number)];
    made.largest = std::max(made.largest, number);
  }
  return made;
}

TEST(histogram, has_the_bounds_it_states) {
  const std::int64_t first[] = {64, 80, 96, 112, 128, 160, 192, 224, 256, 320};
  for (std::size_t bucket = 0; bucket < std::size(first); ++bucket)
    EXPECT_EQ(histogram::upper_bound(bucket), first[bucket]);
  EXPECT_EQ(histogram::upper_bound(histogram::over - 1), std::int64_t{1} << 36);
  EXPECT_EQ(histogram::upper_bound(histogram::over), std::numeric_limits<std::int64_t>::max());
}

TEST(histogram, counts_a_number_in_the_bucket_whose_bounds_hold_it) {
  for (std::size_t bucket = 0; bucket < histogram::over; ++bucket) {
    const std::int64_t bound = histogram::upper_bound(bucket);
    EXPECT_EQ(histogram::bucket_of(bound - 1), bucket);
    EXPECT_EQ(histogram::bucket_of(bound), bucket + 1);
  }
  EXPECT_EQ(histogram::bucket_of(0), 0U);
  EXPECT_EQ(histogram::bucket_of(-1), 0U);
  EXPECT_EQ(histogram::bucket_of(std::numeric_limits<std::int64_t>::min()), 0U);
  EXPECT_EQ(histogram::bucket_of(std::numeric_limits<std::int64_t>::max()), histogram::over);
}

TEST(histogram, has_buckets_no_wider_than_a_quarter) {
  for (std::size_t bucket = 1; bucket < histogram::over; ++bucket) {
    const std::int64_t from = histogram::upper_bound(bucket - 1);
    EXPECT_LE(4 * (histogram::upper_bound(bucket) - from), from);
  }
}

TEST(histogram, of_nothing_is_zero) {
  const histogram empty;
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_EQ(empty.max(), 0);
  EXPECT_EQ(empty.quantile(0), 0);
  EXPECT_EQ(empty.quantile(1), 0);
}

TEST(histogram, counts_all_buckets) {
  EXPECT_EQ(of({-5, 0, 63, 64, 1'000'000, std::int64_t{1} << 40}).count(), 6U);
}

TEST(histogram, gives_the_upper_bound_of_the_bucket_that_reaches_the_share) {
  const histogram four = of({10, 70, 100, 1000});
  EXPECT_EQ(four.quantile(0), 64);
  EXPECT_EQ(four.quantile(0.25), 64);
  EXPECT_EQ(four.quantile(0.26), 80);
  EXPECT_EQ(four.quantile(0.5), 80);
  EXPECT_EQ(four.quantile(0.75), 112);
  EXPECT_EQ(four.quantile(0.76), 1024);
  EXPECT_EQ(four.quantile(1), 1024);
}

TEST(histogram, starts_at_the_first_bucket_that_is_not_empty) {
  EXPECT_EQ(of({1000}).quantile(0), 1024);
}

TEST(histogram, takes_a_share_in_decimals_at_its_word) {
  histogram hundred;
  hundred.counts[histogram::bucket_of(100)] = 7;
  hundred.counts[histogram::bucket_of(1000)] = 93;
  EXPECT_EQ(hundred.quantile(0.07), 112) << "although 0.07 * 100 > 7";
  EXPECT_EQ(hundred.quantile(0.0701), 1024);
}

TEST(histogram, gives_the_largest_number_for_the_open_bucket) {
  const std::int64_t long_time = (std::int64_t{1} << 40) + 17;
  const histogram two = of({100, long_time});
  EXPECT_EQ(two.max(), long_time);
  EXPECT_EQ(two.quantile(0.5), 112);
  EXPECT_EQ(two.quantile(1), long_time);
}

TEST(histogram, whose_largest_number_has_not_arrived_yet_gives_the_last_bound) {
  histogram torn;
  torn.counts[histogram::over] = 1;
  EXPECT_EQ(torn.quantile(0.5), std::int64_t{1} << 36);
}

TEST(histogram, takes_very_large_counts) {
  histogram large;
  large.counts[histogram::bucket_of(100)] = std::uint64_t{1} << 62;
  large.counts[histogram::bucket_of(1000)] = 1;
  EXPECT_EQ(large.quantile(1), 112) << "one in 2^62 is less than a double can tell from none";
  EXPECT_EQ(large.quantile(0.5), 112);
}

TEST(histogram, refuses_shares_beyond_zero_and_one) {
  const histogram one = of({100});
  EXPECT_DEATH((void)one.quantile(-0.01), "a quantile is from 0 to 1");
  EXPECT_DEATH((void)one.quantile(1.01), "a quantile is from 0 to 1");
  EXPECT_DEATH((void)one.quantile(std::numeric_limits<double>::quiet_NaN()), "a quantile is");
}

TEST(histogram, adds_another_bucket_by_bucket) {
  histogram sum = of({100, 1000});
  sum += of({100, 5'000'000'000, 10});
  EXPECT_EQ(sum.count(), 5U);
  EXPECT_EQ(sum.counts[histogram::bucket_of(100)], 2U);
  EXPECT_EQ(sum.counts[histogram::bucket_of(10)], 1U);
  EXPECT_EQ(sum.max(), 5'000'000'000);
  sum += histogram();
  EXPECT_EQ(sum.count(), 5U);
  EXPECT_EQ(sum.max(), 5'000'000'000);
}

TEST(histogram, errs_upwards_and_by_a_quarter_at_most) {
  skua::random_generator random(11);
  histogram counted;
  std::vector<std::int64_t> numbers(5000);
  for (std::int64_t& number : numbers) {
    number = static_cast<std::int64_t>((64 + random.below(64)) << random.below(28));
    ++counted.counts[histogram::bucket_of(number)];
  }
  std::ranges::sort(numbers);
  for (std::size_t rank = 1; rank <= numbers.size(); ++rank) {
    const std::int64_t exact = numbers[rank - 1];
    const std::int64_t given =
        counted.quantile(static_cast<double>(rank) / static_cast<double>(numbers.size()));
    ASSERT_GT(given, exact);
    ASSERT_LE(4 * given, 5 * exact) << rank;
  }
}

}  // namespace
