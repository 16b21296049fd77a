// tests/sched/idle_test.cpp: who is woken, who may search, and who has to look once more.
#include "sched/idle.hpp"

#include "skua/base/atomics.hpp"

#include <gtest/gtest.h>

namespace {

using idle = skua::idle<skua::std_atomics>;

TEST(idle, nobody_is_woken_while_all_run) {
  idle workers(2);
  EXPECT_EQ(workers.worker_to_wake(), idle::none);
}

TEST(idle, the_last_to_sleep_is_woken_first_and_counts_as_searching) {
  idle workers(3);
  EXPECT_TRUE(workers.park(0, false));
  EXPECT_TRUE(workers.park(1, false));
  EXPECT_EQ(workers.worker_to_wake(), 1U);
  EXPECT_EQ(workers.worker_to_wake(), idle::none) << "one searches already";
  EXPECT_TRUE(workers.stop_searching()) << "it was the last: it wakes a successor";
  EXPECT_EQ(workers.worker_to_wake(), 0U);
}

TEST(idle, at_most_half_search) {
  idle workers(4);
  EXPECT_TRUE(workers.try_search());
  EXPECT_TRUE(workers.try_search());
  EXPECT_FALSE(workers.try_search());
  EXPECT_FALSE(workers.stop_searching());
  EXPECT_TRUE(workers.stop_searching());
}

TEST(idle, a_lone_worker_may_search) {
  idle workers(1);
  EXPECT_TRUE(workers.try_search());
}

TEST(idle, who_parks_while_nobody_searches_looks_once_more) {
  idle workers(4);
  EXPECT_TRUE(workers.try_search());
  EXPECT_TRUE(workers.try_search());
  EXPECT_FALSE(workers.park(0, true)) << "the other one still searches";
  EXPECT_FALSE(workers.park(2, false));
  EXPECT_TRUE(workers.park(1, true)) << "the last searcher";
  EXPECT_TRUE(workers.park(3, false)) << "nobody searches";
}

TEST(idle, a_worker_leaves_by_itself_or_learns_that_it_was_woken) {
  idle workers(2);
  EXPECT_TRUE(workers.park(0, false));
  EXPECT_TRUE(workers.unpark(0));
  EXPECT_EQ(workers.worker_to_wake(), idle::none) << "nobody sleeps any more";
  EXPECT_TRUE(workers.park(0, false));
  EXPECT_EQ(workers.worker_to_wake(), 0U);
  EXPECT_FALSE(workers.unpark(0)) << "woken: it is searching";
  EXPECT_TRUE(workers.stop_searching());
}

TEST(idle, without_workers_is_an_error) {
  EXPECT_DEATH(idle workers(0), "there is at least one worker");
}

}  // namespace
