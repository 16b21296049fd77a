// tests/sched/local_queue_test.cpp: order, overflow and shares of the worker's ring.
#include "sched/local_queue.hpp"

#include "sched/work_block.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/random.hpp"
#include "support/budget.hpp"
#include "support/numbered_work.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using skua::work;
using queue = skua::local_queue<skua::std_atomics, 8>;
using skua_test::numbered;
using local_queue = skua_test::numbered_items<queue>;

TEST_F(local_queue, gives_the_oldest_first) {
  queue mine;
  push(mine, 0, 5);
  EXPECT_EQ(mine.size(), 5U);
  EXPECT_EQ(drain(mine), "0 1 2 3 4 ");
  EXPECT_EQ(mine.pop(), nullptr);
}

TEST_F(local_queue, full_moves_the_older_half_and_the_new_item_out_in_order) {
  queue mine;
  push(mine, 0, 9);
  EXPECT_EQ(drain_overflow(), "0 1 2 3 8 ");
  EXPECT_EQ(drain(mine), "4 5 6 7 ");
}

TEST_F(local_queue, full_fills_a_block_likewise) {
  queue mine;
  push(mine, 0, 8);
  skua::work_block block;
  mine.push(items[8], block);
  EXPECT_EQ(drain(mine), "4 5 6 7 ");
  std::array<work*, 8> out{};
  ASSERT_EQ(block.take(out), 5U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(number_of(out[static_cast<std::size_t>(i)]), i);
  EXPECT_EQ(number_of(out[4]), 8);
}

TEST_F(local_queue, takes_of_many_as_many_as_there_is_room_for) {
  queue mine;
  push(mine, 0, 3);
  EXPECT_EQ(number_of(mine.pop()), 0);
  std::array<work*, 7> many{};
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = &items[3 + i];
  EXPECT_EQ(mine.push_some(many), 6U);
  EXPECT_EQ(mine.push_some(many), 0U);
  EXPECT_EQ(drain(mine), "1 2 3 4 5 6 7 8 ");
  EXPECT_EQ(mine.push_some({}), 0U);
  EXPECT_EQ(mine.pop(), nullptr);
}

TEST_F(local_queue, takes_an_item_without_a_list_while_there_is_room) {
  queue mine;
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(mine.try_push(items[i]));
  EXPECT_FALSE(mine.try_push(items[8]));
  EXPECT_EQ(number_of(mine.pop()), 0);
  EXPECT_TRUE(mine.try_push(items[8]));
  EXPECT_EQ(drain(mine), "1 2 3 4 5 6 7 8 ");
}

TEST_F(local_queue, gives_a_certain_item_only_if_it_is_the_oldest) {
  queue mine;
  EXPECT_FALSE(mine.take_oldest(items[0])) << "it is empty";
  push(mine, 0, 3);
  EXPECT_FALSE(mine.take_oldest(items[1]));
  EXPECT_TRUE(mine.take_oldest(items[0]));
  EXPECT_FALSE(mine.take_oldest(items[0])) << "it is gone";
  EXPECT_EQ(drain(mine), "1 2 ");
  EXPECT_FALSE(mine.take_oldest(items[2])) << "its slot still names it";
}

TEST_F(local_queue, gives_a_certain_item_back_if_it_is_the_newest) {
  queue mine;
  EXPECT_FALSE(mine.take_newest(items[0])) << "it is empty";
  for (int round = 0; round < 40; ++round) {  // round its ring, and over
    push(mine, 0, 4);
    EXPECT_FALSE(mine.take_newest(items[2]));
    EXPECT_TRUE(mine.take_newest(items[3]));
    EXPECT_FALSE(mine.take_newest(items[3])) << "it is gone";
    EXPECT_TRUE(mine.take_newest(items[2]));
    EXPECT_EQ(mine.size(), 2U);
    push(mine, 4, 1);
    EXPECT_EQ(drain(mine), "0 1 4 ");
    EXPECT_FALSE(mine.take_newest(items[4])) << "its slot still names it";
  }
}

// So that a thief who has slept all the while does not take the head for that of before.
TEST_F(local_queue, gives_back_so_often_until_one_is_taken_from_the_other_side) {
  using short_memory = skua::local_queue<skua::std_atomics, 8, 1>;
  short_memory mine;
  short_memory thief;
  const auto goes_back = [&] {
    EXPECT_TRUE(mine.try_push(items[7]));
    return mine.take_newest(items[7]);
  };
  EXPECT_TRUE(mine.try_push(items[0]));
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(goes_back());
    EXPECT_FALSE(goes_back());
    work* const first = round == 1 ? mine.steal_into(thief) : mine.pop();
    EXPECT_EQ(number_of(first), round == 0 ? 0 : 7);
  }
  EXPECT_EQ(number_of(mine.pop()), 7);
}

TEST_F(local_queue, a_thief_gets_half_of_what_was_not_taken_back) {
  queue victim;
  queue thief;
  push(victim, 0, 5);
  EXPECT_TRUE(victim.take_newest(items[4]));
  EXPECT_EQ(number_of(victim.steal_into(thief)), 0);
  EXPECT_EQ(drain(thief), "1 ");
  EXPECT_EQ(drain(victim), "2 3 ");
}

TEST_F(local_queue, shows_what_comes_soon) {
  queue mine;
  EXPECT_EQ(mine.pop_and_peek(1).item, nullptr);
  push(mine, 0, 5);
  const auto first = mine.pop_and_peek(2);
  EXPECT_EQ(first.item, &items[0]);
  EXPECT_EQ(first.later, &items[2]);
  EXPECT_EQ(mine.pop_and_peek(3).later, &items[4]);
  EXPECT_EQ(mine.pop_and_peek(3).later, nullptr) << "there are not so many";
  EXPECT_EQ(drain(mine), "3 4 ");
}

TEST_F(local_queue, that_nobody_shares_gives_the_same) {
  queue mine;
  EXPECT_EQ(mine.pop_unshared(1).item, nullptr);
  for (int round = 0; round < 40; ++round) {  // round its ring, and over
    push(mine, 0, 5);
    for (int i = 0; i < 5; ++i) {
      const auto got = mine.pop_unshared(2);
      EXPECT_EQ(got.item, &items[i]);
      EXPECT_EQ(got.later, i < 3 ? &items[i + 2] : nullptr);
    }
    EXPECT_EQ(mine.pop_unshared(2).item, nullptr);
  }
}

TEST_F(local_queue, a_thief_gets_half_rounded_up_and_runs_the_oldest) {
  queue victim;
  queue thief;
  push(victim, 0, 5);
  EXPECT_EQ(number_of(victim.steal_into(thief)), 0);
  EXPECT_EQ(drain(thief), "1 2 ");
  EXPECT_EQ(drain(victim), "3 4 ");
}

TEST_F(local_queue, a_queue_of_one_can_be_stolen) {
  queue victim;
  queue thief;
  push(victim, 0, 1);
  EXPECT_EQ(number_of(victim.steal_into(thief)), 0);
  EXPECT_EQ(victim.steal_into(thief), nullptr);
}

TEST_F(local_queue, a_thief_that_is_over_half_full_gets_nothing) {
  queue victim;
  queue thief;
  push(victim, 0, 4);
  push(thief, 10, 5);
  EXPECT_EQ(victim.steal_into(thief), nullptr);
  EXPECT_EQ(number_of(thief.pop()), 10);
  EXPECT_EQ(number_of(victim.steal_into(thief)), 0);
  EXPECT_EQ(drain(thief), "11 12 13 14 1 ");
  drain(victim);
}

TEST_F(local_queue, goes_round_its_ring_many_times) {
  queue mine;
  for (int round = 0; round < 1000; ++round) {
    push(mine, 0, 3);
    EXPECT_EQ(drain(mine), "0 1 2 ");
  }
  EXPECT_TRUE(overflow.empty());
}

TEST_F(local_queue, dies_empty) {
  EXPECT_DEATH(
      {
        queue mine;
        push(mine, 0, 1);
      },
      "a local queue dies empty");
}

/// An owner and two thieves on real threads; every item is taken once.
void one_round(skua::random_generator& random) {
  constexpr std::size_t count = 2'000;
  auto items = std::make_unique<numbered[]>(count);
  queue victim;
  std::atomic<bool> over = false;
  auto take = [](work* one) {
    if (one != nullptr) static_cast<numbered*>(one)->taken.fetch_add(1);
    return one != nullptr;
  };
  auto steal = [&] {
    queue mine;
    while (!over.load()) {
      take(victim.steal_into(mine));
      while (take(mine.pop())) {
      }
    }
  };
  std::thread first(steal);
  std::thread second(steal);
  skua::work_queue overflow;
  for (std::size_t i = 0; i < count; ++i) {
    victim.push(items[i], overflow);
    if (random.below(3) == 0) take(victim.pop());
    if (random.below(3) == 0 && victim.take_newest(items[i])) take(&items[i]);
  }
  while (take(victim.pop())) {
  }
  over = true;
  first.join();
  second.join();
  while (!overflow.empty()) take(overflow.pop_front());
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(items[i].taken.load(), 1) << "item " << i;
}

TEST(local_queue_stress, every_item_is_taken_once) {
  const auto seed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::printf("seed %s\n", std::to_string(seed).c_str());
  skua::random_generator random(seed);
  int rounds = 0;
  for (const skua_test::budget time(1); time.left(); ++rounds) one_round(random);
  std::printf("%d rounds of 2000 items\n", rounds);
}

}  // namespace
