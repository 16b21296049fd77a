// tests/sched/watch_post_test.cpp: who becomes the guard, one step after the other.
#include "sched/watch_post.hpp"

#include "skua/base/atomics.hpp"

#include <gtest/gtest.h>

namespace {

using post = skua::watch_post<skua::std_atomics>;
constexpr auto none = post::none;

TEST(watch_post, the_first_to_sleep_looks_after_those_awake) {
  post watch(3);
  EXPECT_EQ(watch.sleeps(1), 1U);
  EXPECT_EQ(watch.sleeps(2), none) << "one is enough";
  EXPECT_EQ(watch.alarm_went_off(1), 1U) << "again and again";
  EXPECT_EQ(watch.alarm_went_off(2), none) << "it is not the guard";
}

TEST(watch_post, is_left_when_all_sleep) {
  post watch(2);
  EXPECT_EQ(watch.sleeps(0), 0U);
  EXPECT_EQ(watch.sleeps(1), none);
  EXPECT_EQ(watch.alarm_went_off(0), none);
  EXPECT_EQ(watch.wakes(1), 0U) << "and taken again by one that sleeps on";
}

TEST(watch_post, is_handed_on_by_a_guard_that_wakes) {
  post watch(3);
  EXPECT_EQ(watch.sleeps(0), 0U);
  EXPECT_EQ(watch.sleeps(1), none);
  EXPECT_EQ(watch.wakes(0), 1U);
  EXPECT_EQ(watch.wakes(1), none) << "all are awake";
  EXPECT_EQ(watch.sleeps(2), 2U);
}

TEST(watch_post, of_one_worker_is_never_taken) {
  post watch(1);
  EXPECT_EQ(watch.sleeps(0), none);
  EXPECT_EQ(watch.wakes(0), none);
}

}  // namespace
