// tests/sched/lifo_slot_test.cpp: put, displace and take on one thread.
#include "sched/lifo_slot.hpp"

#include "skua/base/atomics.hpp"

#include <gtest/gtest.h>

namespace {

using skua::work;
using slot = skua::lifo_slot<skua::std_atomics>;

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
