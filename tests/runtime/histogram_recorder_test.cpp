// tests/runtime/histogram_recorder_test.cpp: what one thread counts, others see, and nothing else.
#include "runtime/histogram_recorder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace {

using skua::histogram;
using skua::histogram_recorder;

TEST(histogram_recorder, is_empty_at_first) {
  const histogram_recorder recorder;
  EXPECT_EQ(recorder.snapshot().count(), 0U);
  EXPECT_EQ(recorder.snapshot().max(), 0);
}

TEST(histogram_recorder, counts_each_number_once_in_its_bucket) {
  histogram_recorder recorder;
  for (const std::int64_t number : {-7, 0, 63, 64, 64, 100'000, INT32_MAX}) recorder.add(number);
  recorder.add(INT64_MAX - 1);
  const histogram copy = recorder.snapshot();
  EXPECT_EQ(copy.count(), 8U);
  EXPECT_EQ(copy.counts[0], 3U);
  EXPECT_EQ(copy.counts[1], 2U);
  EXPECT_EQ(copy.counts[histogram::bucket_of(100'000)], 1U);
  EXPECT_EQ(copy.counts[histogram::over], 1U);
  EXPECT_EQ(copy.max(), INT64_MAX - 1);
}

TEST(histogram_recorder, keeps_the_largest_number) {
  histogram_recorder recorder;
  recorder.add(1000);
  recorder.add(999);
  EXPECT_EQ(recorder.snapshot().max(), 1000);
}

TEST(histogram_recorder, gives_copies_that_stay_as_they_are) {
  histogram_recorder recorder;
  recorder.add(100);
  const histogram before = recorder.snapshot();
  recorder.add(100'000);
  EXPECT_EQ(before.count(), 1U);
  EXPECT_EQ(before.max(), 100);
}

TEST(histogram_recorder, can_be_read_while_its_writer_counts) {
  constexpr std::uint64_t numbers = 100'000;
  histogram_recorder recorder;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    histogram last;
    while (!done) {
      const histogram now = recorder.snapshot();
      for (std::size_t bucket = 0; bucket < histogram::buckets; ++bucket)
        ASSERT_GE(now.counts[bucket], last.counts[bucket]) << "counts only grow";
      ASSERT_GE(now.max(), last.max());
      ASSERT_LE(now.count(), numbers);
      last = now;
    }
  });
  for (std::uint64_t i = 0; i < numbers; ++i) recorder.add(static_cast<std::int64_t>(i));
  done = true;
  reader.join();
  EXPECT_EQ(recorder.snapshot().count(), numbers);
  EXPECT_EQ(recorder.snapshot().max(), static_cast<std::int64_t>(numbers - 1));
}

}  // namespace
