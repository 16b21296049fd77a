// tests/sched/join_word_test.cpp: in every order, the last to let go frees the cell, and only it.
//
// Each operation of join_word is one atomic step, so trying all orders of operations is a complete
// test of the protocol above the memory model.
#include "sched/join_word.hpp"

#include "skua/base/atomics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using word = skua::join_word<skua::std_atomics>;
using end_answer = word::end_answer;

TEST(join_word, starts_free_and_cannot_be_pinned) {
  word cell;
  EXPECT_TRUE(cell.is_free());
  EXPECT_FALSE(cell.pin());
}

TEST(join_word, the_task_frees_what_was_dropped_before) {
  word cell;
  cell.open();
  EXPECT_FALSE(cell.is_free());
  EXPECT_FALSE(cell.done());
  EXPECT_FALSE(cell.drop());
  EXPECT_EQ(cell.end(), end_answer::free);
  EXPECT_TRUE(cell.is_free());
  EXPECT_FALSE(cell.pin());
}

TEST(join_word, the_handle_frees_what_has_ended_before) {
  word cell;
  cell.open();
  EXPECT_EQ(cell.end(), end_answer::kept);
  EXPECT_TRUE(cell.done());
  EXPECT_TRUE(cell.drop());
  EXPECT_TRUE(cell.is_free());
}

TEST(join_word, a_task_without_a_handle_frees_its_cell) {
  word cell;
  cell.open_dropped();
  EXPECT_FALSE(cell.is_free());
  EXPECT_EQ(cell.end(), end_answer::free);
  EXPECT_TRUE(cell.is_free());
}

TEST(join_word, the_joiner_is_woken_by_the_end_and_then_drops) {
  word cell;
  cell.open();
  EXPECT_TRUE(cell.join());
  EXPECT_EQ(cell.end(), end_answer::wake_joiner);
  EXPECT_FALSE(cell.is_free());
  EXPECT_TRUE(cell.drop());
  EXPECT_TRUE(cell.is_free());
}

TEST(join_word, there_is_no_wait_for_a_task_that_has_ended) {
  word cell;
  cell.open();
  EXPECT_EQ(cell.end(), end_answer::kept);
  EXPECT_FALSE(cell.join());
  EXPECT_FALSE(cell.join()) << "nor the second time";
  EXPECT_TRUE(cell.drop());
}

TEST(join_word, a_joiner_that_left_is_not_woken_and_may_join_again) {
  word cell;
  cell.open();
  EXPECT_TRUE(cell.join());
  EXPECT_TRUE(cell.leave());
  EXPECT_TRUE(cell.join());
  EXPECT_TRUE(cell.leave());
  EXPECT_EQ(cell.end(), end_answer::kept);
  EXPECT_TRUE(cell.drop());
}

TEST(join_word, a_joiner_that_leaves_too_late_is_told_so) {
  word cell;
  cell.open();
  EXPECT_TRUE(cell.join());
  EXPECT_EQ(cell.end(), end_answer::wake_joiner);
  EXPECT_FALSE(cell.leave());
  EXPECT_TRUE(cell.drop());
}

TEST(join_word, a_walker_that_unpins_last_frees) {
  word cell;
  cell.open_dropped();
  EXPECT_TRUE(cell.pin());
  EXPECT_TRUE(cell.pin()) << "there may be several";
  EXPECT_EQ(cell.end(), end_answer::kept);
  EXPECT_FALSE(cell.unpin());
  EXPECT_TRUE(cell.unpin());
  EXPECT_TRUE(cell.is_free());
}

TEST(join_word, an_ended_task_can_be_pinned_while_its_handle_lives) {
  word cell;
  cell.open();
  EXPECT_EQ(cell.end(), end_answer::kept);
  EXPECT_TRUE(cell.pin());
  EXPECT_TRUE(cell.done());
  EXPECT_FALSE(cell.drop());
  EXPECT_TRUE(cell.unpin());
}

TEST(join_word, who_ends_and_drops_at_once_leaves_it_free_or_to_the_last_walker) {
  // x: end and drop, p and u, q and v: two walkers pin and unpin.
  std::string order = "pquvx";
  std::ranges::sort(order);
  int orders = 0;
  do {
    if (order.find('p') > order.find('u') || order.find('q') > order.find('v')) continue;
    word cell;
    cell.open();
    int freed = 0;
    bool first = false;
    bool second = false;
    for (const char step : order) {
      if (step == 'x') freed += cell.end_and_drop() ? 1 : 0;
      if (step == 'p') first = cell.pin();
      if (step == 'q') second = cell.pin();
      if (step == 'u') freed += first && cell.unpin() ? 1 : 0;
      if (step == 'v') freed += second && cell.unpin() ? 1 : 0;
      EXPECT_EQ(cell.is_free(), freed == 1) << order << " at " << step;
    }
    EXPECT_EQ(freed, 1) << order;
    EXPECT_TRUE(cell.done()) << order;
    ++orders;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(orders, 30);
}

TEST(join_word, a_free_cell_can_be_opened_again) {
  word cell;
  for (int i = 0; i < 3; ++i) {
    cell.open();
    EXPECT_FALSE(cell.done());
    EXPECT_TRUE(cell.join());
    EXPECT_EQ(cell.end(), end_answer::wake_joiner);
    EXPECT_TRUE(cell.drop());
    EXPECT_TRUE(cell.is_free());
  }
}

TEST(join_word, whatever_the_order_one_frees_and_it_is_the_last) {
  // e: end, d: drop, p and u: a walker pins and unpins.
  std::string order = "depu";
  int orders = 0;
  do {
    if (order.find('p') > order.find('u')) continue;
    word cell;
    cell.open();
    int freed = 0;
    bool pinned = false;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const char step = order[i];
      bool frees = false;
      if (step == 'e') frees = cell.end() == end_answer::free;
      if (step == 'd') frees = cell.drop();
      if (step == 'p') pinned = cell.pin();
      if (step == 'u') frees = pinned && cell.unpin();
      freed += frees ? 1 : 0;
      EXPECT_EQ(cell.is_free(), freed == 1) << order;
      EXPECT_EQ(freed == 1,
                order.find('e') <= i && order.find('d') <= i && (!pinned || order.find('u') <= i))
          << order << " at " << i;
    }
    EXPECT_EQ(freed, 1) << order;
    ++orders;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(orders, 12);
}

TEST(join_word, misuse_is_noticed) {
  EXPECT_DEATH(
      {
        word cell;
        cell.open();
        cell.open();
      },
      "a cell is opened while it is free");
  EXPECT_DEATH(
      {
        word cell;
        cell.open();
        (void)cell.end();
        (void)cell.end();
      },
      "a task ends once");
  EXPECT_DEATH(
      {
        word cell;
        cell.open();
        (void)cell.drop();
        (void)cell.drop();
      },
      "a handle is dropped once");
  EXPECT_DEATH(
      {
        word cell;
        cell.open();
        (void)cell.join();
        (void)cell.drop();
      },
      "a handle is not dropped while it joins");
  EXPECT_DEATH(
      {
        word cell;
        cell.open();
        (void)cell.join();
        (void)cell.join();
      },
      "a handle joins once at a time");
  EXPECT_DEATH(
      {
        word cell;
        cell.open();
        (void)cell.join();
        (void)cell.end_and_drop();
      },
      "a task ends once, and its handle is dropped once, not while it joins");
  EXPECT_DEATH(
      {
        word cell;
        cell.open();
        (void)cell.leave();
      },
      "who leaves has joined");
  EXPECT_DEATH(
      {
        word cell;
        cell.open();
        (void)cell.unpin();
      },
      "who unpins has pinned");
}

}  // namespace
