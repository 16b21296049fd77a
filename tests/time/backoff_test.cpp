// tests/time/backoff_test.cpp: pauses grow up to a limit, and vary as much as was asked for.
#include "skua/time/backoff.hpp"

#include "skua/skua.hpp"
#include "skua/time/virtual_time.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::backoff;
using skua::retry_options;
using skua::task;
using skua::time_span;

std::vector<std::int64_t> pauses_of(const retry_options& how, int count) {
  backoff pauses(how);
  std::vector<std::int64_t> all;
  for (int i = 0; i < count; ++i) all.push_back(pauses.next().count());
  return all;
}

TEST(backoff, doubles_up_to_the_longest) {
  const auto how = retry_options().first_pause(1ms).longest_pause(10ms).jitter(0);
  EXPECT_EQ(pauses_of(how, 6), (std::vector<std::int64_t>{1'000'000, 2'000'000, 4'000'000,
                                                          8'000'000, 10'000'000, 10'000'000}));
}

TEST(backoff, grows_by_the_factor) {
  const auto how = retry_options().first_pause(1us).factor(10).jitter(0);
  EXPECT_EQ(pauses_of(how, 3), (std::vector<std::int64_t>{1'000, 10'000, 100'000}));
  const auto same = retry_options().first_pause(1us).factor(1).jitter(0);
  EXPECT_EQ(pauses_of(same, 3), (std::vector<std::int64_t>{1'000, 1'000, 1'000}));
}

TEST(backoff, is_never_longer_than_the_longest) {
  const auto how = retry_options().first_pause(1h).longest_pause(1s).jitter(0);
  EXPECT_EQ(pauses_of(how, 2), (std::vector<std::int64_t>{1'000'000'000, 1'000'000'000}));
}

TEST(backoff, does_not_overflow) {
  const auto how = retry_options()
                       .first_pause(std::chrono::hours::max())
                       .longest_pause(std::chrono::hours::max())
                       .factor(1e300)
                       .jitter(0);
  backoff pauses(how);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(pauses.next(), time_span::longest());
}

TEST(backoff, leaves_a_part_to_chance) {
  const auto how = retry_options().first_pause(1s).factor(1).jitter(0.25).seed(3);
  std::int64_t shortest = INT64_MAX;
  std::int64_t longest = 0;
  for (const std::int64_t one : pauses_of(how, 10'000)) {
    shortest = std::min(shortest, one);
    longest = std::max(longest, one);
  }
  EXPECT_GE(shortest, 750'000'000);
  EXPECT_LT(shortest, 751'000'000);
  EXPECT_LE(longest, 1'000'000'000);
  EXPECT_GT(longest, 999'000'000);
}

TEST(backoff, repeats_itself_with_the_same_seed_only) {
  const auto how = retry_options().first_pause(1s);
  EXPECT_EQ(pauses_of(retry_options(how).seed(1), 5), pauses_of(retry_options(how).seed(1), 5));
  EXPECT_NE(pauses_of(retry_options(how).seed(1), 5), pauses_of(retry_options(how).seed(2), 5));
}

TEST(backoff, repeats_itself_in_virtual_time) {
  auto body = []() -> task<std::vector<std::int64_t>> { co_return pauses_of(retry_options(), 5); };
  const auto once = skua::testing::virtual_time(body());
  EXPECT_EQ(once, skua::testing::virtual_time(body()));
}

TEST(backoff, differs_from_task_to_task) {
  skua::testing::virtual_time([]() -> task<> {
    auto body = []() -> task<std::vector<std::int64_t>> {
      co_return pauses_of(retry_options(), 5);
    };
    const auto one = co_await skua::spawn(body());
    const auto other = co_await skua::spawn(body());
    EXPECT_NE(one, other);
  });
}

TEST(backoff, begins_anew_after_a_success) {
  backoff pauses(retry_options().first_pause(1ms).jitter(0));
  static_cast<void>(pauses.next());
  EXPECT_EQ(pauses.next(), 2ms);
  pauses.reset();
  EXPECT_EQ(pauses.next(), 1ms);
}

TEST(retry_options_death, what_makes_no_sense_says_so) {
  EXPECT_DEATH(retry_options().attempts(0), "at least one attempt");
  EXPECT_DEATH(retry_options().factor(0.5), "at least 1");
  EXPECT_DEATH(retry_options().jitter(1.5), "0 to 1");
  EXPECT_DEATH(retry_options().first_pause(-1ms), "not negative");
  EXPECT_DEATH(retry_options().only_if(nullptr), "takes a function");
}

}  // namespace
