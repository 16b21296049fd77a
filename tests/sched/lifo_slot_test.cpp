// tests/sched/lifo_slot_test.cpp: put, displace and take on one thread.
#include "sched/lifo_slot.hpp"

#include "skua/base/atomics.hpp"
#include "support/no_barrier.hpp"

#include <gtest/gtest.h>

namespace {

using skua::work;
using skua_test::no_barrier;
using slot = skua::lifo_slot<skua::std_atomics, no_barrier>;

void run_nothing(work&) noexcept {}

TEST(lifo_slot, gives_back_what_was_put) {
  slot next;
  work item(run_nothing);
  EXPECT_TRUE(next.empty());
  EXPECT_EQ(next.take(), nullptr);
  EXPECT_EQ(next.put(item), nullptr);
  EXPECT_FALSE(next.empty());
  EXPECT_EQ(next.take(), &item);
  EXPECT_TRUE(next.empty());
  EXPECT_EQ(next.take(), nullptr) << "taken once";
}

TEST(lifo_slot, a_newer_item_displaces_the_older) {
  slot next;
  work older(run_nothing);
  work newer(run_nothing);
  EXPECT_EQ(next.put(older), nullptr);
  EXPECT_EQ(next.put(newer), &older);
  EXPECT_EQ(next.take(), &newer);
}

TEST(lifo_slot, that_nobody_shares_gives_the_same) {
  slot next;
  work item(run_nothing);
  EXPECT_EQ(next.take_unshared(), nullptr);
  EXPECT_EQ(next.put(item), nullptr);
  EXPECT_EQ(next.take_unshared(), &item);
  EXPECT_TRUE(next.empty());
}

TEST(lifo_slot, is_emptied_by_a_rescuer) {
  slot next;
  work item(run_nothing);
  EXPECT_EQ(next.rescue(), nullptr);
  EXPECT_EQ(next.put(item), nullptr);
  EXPECT_EQ(next.rescue(), &item);
  EXPECT_TRUE(next.empty());
  EXPECT_EQ(next.take(), nullptr);
}

// The owner may be there, and not see the rescuer.
TEST(lifo_slot, is_left_alone_if_the_kernel_does_not_help_any_more) {
  slot next;
  work item(run_nothing);
  EXPECT_EQ(next.put(item), nullptr);
  no_barrier::kernel_helps = false;
  EXPECT_EQ(next.rescue(), nullptr);
  no_barrier::kernel_helps = true;
  EXPECT_EQ(next.take(), &item);
}

TEST(lifo_slot, dies_empty) {
  work item(run_nothing);
  EXPECT_DEATH(
      {
        slot next;
        (void)next.put(item);
      },
      "a LIFO slot dies empty");
}

}  // namespace
