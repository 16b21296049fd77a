// tests/driver/timer_lengths_test.cpp: a length of time begins when the wheel is told the time.
#include "driver/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using skua::no_deadline;
using times = std::vector<std::int64_t>;

constexpr std::int64_t second = 1'000'000'000;

struct probe : skua::timer {
  explicit probe(std::int64_t length) : timer(nullptr) { deadline = length; }
};

times deadlines_due(skua::timer_wheel& wheel, std::int64_t now) {
  skua::timer_list expired;
  wheel.advance(now, expired);
  times all;
  while (const skua::timer* one = expired.pop_front()) all.push_back(one->deadline);
  return all;
}

TEST(timer_wheel_lengths, lets_a_length_begin_when_time_is_looked_at) {
  skua::timer_wheel wheel(0);
  probe is_there(10 * second);
  wheel.insert(is_there, 0);
  probe begins(2 * second), is_removed(second), is_endless(no_deadline - 1);
  for (probe* const one : {&begins, &is_removed, &is_endless}) {
    wheel.insert_length(*one);
    EXPECT_TRUE(one->linked());
  }
  EXPECT_TRUE(wheel.has_lengths());
  EXPECT_EQ(wheel.size(), 4U);
  EXPECT_TRUE(wheel.remove(is_removed));
  EXPECT_FALSE(wheel.remove(is_removed));
  EXPECT_EQ(deadlines_due(wheel, 3 * second), times{}) << "now it has begun";
  EXPECT_FALSE(wheel.has_lengths());
  EXPECT_EQ(wheel.next_deadline(), 5 * second);
  EXPECT_EQ(deadlines_due(wheel, 5 * second - 1), times{});
  EXPECT_EQ(deadlines_due(wheel, 20 * second), (times{5 * second, 10 * second}));
  EXPECT_EQ(is_endless.deadline, no_deadline);
  EXPECT_TRUE(wheel.remove(is_endless));
}

TEST(timer_wheel_lengths, lets_lengths_begin_before_it_tells_the_next_deadline) {
  skua::timer_wheel wheel(0);
  probe first(second), second_one(second);
  wheel.insert_length(first);
  wheel.begin_lengths(7);
  wheel.insert_length(second_one);
  wheel.begin_lengths(5);
  EXPECT_EQ(wheel.next_deadline(), second + 5);
  EXPECT_EQ(deadlines_due(wheel, second + 7), (times{second + 5, second + 7}));
}

}  // namespace
