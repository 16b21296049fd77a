// tests/sched/inject_queue_test.cpp: order, batches and closing of the shared queue.
#include "sched/inject_queue.hpp"

#include "skua/base/atomics.hpp"

#include <gtest/gtest.h>

namespace {

using skua::work;
using queue = skua::inject_queue<skua::std_atomics>;

void run_nothing(work&) noexcept {}

TEST(inject_queue, gives_the_oldest_first_one_by_one_or_in_batches) {
  queue shared;
  work a(run_nothing);
  work b(run_nothing);
  work c(run_nothing);
  EXPECT_TRUE(shared.push(a));
  EXPECT_TRUE(shared.push(b));
  EXPECT_TRUE(shared.push(c));
  EXPECT_EQ(shared.size(), 3U);
  EXPECT_EQ(shared.pop(), &a);
  skua::work_queue rest;
  EXPECT_EQ(shared.pop_batch(8, rest), 2U);
  EXPECT_EQ(rest.pop_front(), &b);
  EXPECT_EQ(rest.pop_front(), &c);
  EXPECT_EQ(shared.pop(), nullptr);
  EXPECT_EQ(shared.pop_batch(8, rest), 0U);
}

TEST(inject_queue, closed_refuses_what_is_new_and_keeps_what_it_has) {
  queue shared;
  work in(run_nothing);
  work late(run_nothing);
  work overflowed(run_nothing);
  EXPECT_TRUE(shared.push(in));
  EXPECT_TRUE(shared.close());
  EXPECT_FALSE(shared.close());
  EXPECT_FALSE(shared.push(late));
  skua::work_queue batch;
  batch.push_back(overflowed);
  shared.push_batch(batch);
  EXPECT_EQ(shared.pop(), &in);
  EXPECT_EQ(shared.pop(), &overflowed);
  EXPECT_EQ(shared.pop(), nullptr);
}

}  // namespace
