// tests/base/work_test.cpp: a work item starts unlinked and runs what it was given.
#include "skua/base/work.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace {

using skua::work;

struct counter : work {
  counter() : work([](work& self) noexcept { ++static_cast<counter&>(self).runs; }) {}
  int runs = 0;
};

TEST(work, starts_unlinked) {
  const counter item;
  EXPECT_EQ(item.next, nullptr);
}

TEST(work, runs_on_the_object_it_is_part_of) {
  counter one;
  counter other;
  work& as_held_by_a_queue = one;
  as_held_by_a_queue.run(as_held_by_a_queue);
  as_held_by_a_queue.run(as_held_by_a_queue);
  EXPECT_EQ(one.runs, 2);
  EXPECT_EQ(other.runs, 0);
}

TEST(work, stays_where_it_is) {
  EXPECT_FALSE(std::is_copy_constructible_v<work>);
  EXPECT_FALSE(std::is_move_constructible_v<work>);
  EXPECT_FALSE(std::is_copy_assignable_v<work>);
}

TEST(work, is_two_words) {
  EXPECT_EQ(sizeof(work), 2 * sizeof(void*));
}

}  // namespace
