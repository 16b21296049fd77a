// tests/sched/work_block_test.cpp: many items that travel as one.
#include "sched/work_block.hpp"

#include "support/numbered_work.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using skua::work;
using skua::work_block;
using skua_test::numbered;

TEST(work_block, gives_the_oldest_first_and_takes_more_once_it_is_empty) {
  std::array<numbered, work_block::places> items;
  std::array<work*, work_block::places> taken{};
  work_block block;
  for (int round = 0; round < 2; ++round) {
    for (numbered& one : items) block.push_back(one);
    EXPECT_EQ(block.size(), items.size());
    EXPECT_EQ(block.take(std::span(taken).first(2)), 2U);
    EXPECT_EQ(taken[1], &items[1]);
    EXPECT_EQ(block.size(), items.size() - 2);
    EXPECT_EQ(block.take(taken), items.size() - 2);
    EXPECT_EQ(taken.front(), &items[2]);
    EXPECT_TRUE(block.empty());
    EXPECT_EQ(block.take(taken), 0U);
  }
}

TEST(work_block, is_told_from_what_it_holds) {
  const numbered one;
  const work_block block;
  EXPECT_TRUE(work_block::is(block));
  EXPECT_FALSE(work_block::is(one));
}

TEST(work_block_death, is_neither_run_nor_filled_over_the_brim_nor_dropped_with_items) {
  work_block block;
  EXPECT_DEATH(block.run(block), "a block of work is not run");
  EXPECT_DEATH(
      {
        work_block full;
        numbered one;
        for (std::size_t i = 0; i <= work_block::places; ++i) full.push_back(one);
      },
      "a block of work has room for what it is given");
  EXPECT_DEATH(
      {
        work_block lost;
        numbered one;
        lost.push_back(one);
      },
      "a block of work dies empty");
}

}  // namespace
