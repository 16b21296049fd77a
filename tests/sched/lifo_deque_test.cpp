// tests/sched/lifo_deque_test.cpp: order, growth and limits of the worker's deque; thieves at it.
#include "sched/lifo_deque.hpp"

#include "driver/process_barrier.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/random.hpp"
#include "support/budget.hpp"
#include "support/memory_limit.hpp"
#include "support/no_barrier.hpp"
#include "support/numbered_work.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <thread>

namespace {

using skua::work;
using deque = skua::lifo_deque<skua::std_atomics, skua::process_barrier, 4, 16>;
using skua_test::numbered;
using lifo_deque = skua_test::numbered_items<deque>;

TEST_F(lifo_deque, gives_its_owner_the_newest_first) {
  deque mine;
  push(mine, 0, 3);
  EXPECT_EQ(mine.size(), 3U);
  EXPECT_EQ(drain(mine), "2 1 0 ");
  EXPECT_EQ(mine.pop(), nullptr);
  EXPECT_EQ(mine.size(), 0U);
}

TEST_F(lifo_deque, gives_a_certain_item_only_if_it_is_the_newest) {
  deque mine;
  EXPECT_FALSE(mine.take_newest(items[0])) << "it is empty";
  push(mine, 0, 3);
  EXPECT_FALSE(mine.take_newest(items[1]));
  EXPECT_TRUE(mine.take_newest(items[2]));
  EXPECT_FALSE(mine.take_newest(items[2])) << "it is gone";
  EXPECT_EQ(drain(mine), "1 0 ");
  EXPECT_FALSE(mine.take_newest(items[0])) << "its slot still names it";
}

TEST_F(lifo_deque, gives_a_thief_the_oldest_and_only_that) {
  deque mine;
  push(mine, 0, 3);
  EXPECT_EQ(number_of(mine.steal()), 0);
  EXPECT_EQ(mine.size(), 2U);
  EXPECT_EQ(number_of(mine.steal()), 1);
  EXPECT_EQ(drain(mine), "2 ");
  EXPECT_EQ(mine.steal(), nullptr);
}

TEST_F(lifo_deque, one_item_can_be_stolen) {
  deque mine;
  push(mine, 0, 1);
  EXPECT_EQ(number_of(mine.steal()), 0);
  EXPECT_EQ(mine.pop(), nullptr);
}

TEST_F(lifo_deque, grows_and_keeps_the_order) {
  deque mine;
  push(mine, 0, 3);
  EXPECT_EQ(number_of(mine.steal()), 0);  // so that its items lie across the end of the buffer
  push(mine, 3, 10);
  EXPECT_EQ(mine.size(), 12U);
  EXPECT_EQ(number_of(mine.steal()), 1);
  EXPECT_EQ(drain(mine), "12 11 10 9 8 7 6 5 4 3 2 ");
  EXPECT_TRUE(overflow.empty());
}

TEST_F(lifo_deque, as_large_as_it_may_be_leaves_what_does_not_fit_to_others) {
  deque mine;
  push(mine, 0, 18);
  EXPECT_EQ(mine.size(), 16U);
  EXPECT_EQ(drain_overflow(), "16 17 ");
  EXPECT_EQ(number_of(mine.steal()), 0);
  push(mine, 18, 1);
  EXPECT_TRUE(overflow.empty());
  EXPECT_EQ(number_of(mine.pop()), 18);
  drain(mine);
}

TEST_F(lifo_deque, without_memory_leaves_what_does_not_fit_to_others) {
  for (std::size_t kth = 1; kth <= 2; ++kth) {  // the buffer, its slots
    deque mine;
    push(mine, 0, 4);
    {
      const skua_test::memory_limit none(kth);
      push(mine, 4, 1);
    }
    EXPECT_EQ(drain_overflow(), "4 ");
    push(mine, 5, 1);  // there is some again
    EXPECT_EQ(drain(mine), "5 3 2 1 0 ");
  }
}

TEST_F(lifo_deque, without_memory_is_not_made) {
  for (std::size_t kth = 1; kth <= 2; ++kth) {
    bool thrown = false;
    try {
      const skua_test::memory_limit none(kth);
      const deque mine;
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown) << kth;
  }
}

TEST_F(lifo_deque, goes_round_its_buffer_many_times) {
  deque mine;
  for (int round = 0; round < 1'000; ++round) {
    push(mine, 0, 3);
    EXPECT_EQ(number_of(mine.steal()), 0);
    EXPECT_EQ(drain(mine), "2 1 ");
  }
  EXPECT_TRUE(overflow.empty());
}

// The owner may be taking the item, and not see the thief.
TEST(lifo_deque_barrier, a_thief_gets_nothing_while_the_kernel_stops_to_help) {
  skua::lifo_deque<skua::std_atomics, skua_test::no_barrier> victim;
  skua::work_queue overflow;
  numbered item;
  victim.push(item, overflow);
  skua_test::no_barrier::kernel_helps = false;
  EXPECT_EQ(victim.steal(), nullptr);
  skua_test::no_barrier::kernel_helps = true;
  EXPECT_EQ(victim.steal(), &item);
}

TEST_F(lifo_deque, dies_empty) {
  EXPECT_DEATH(
      {
        deque mine;
        push(mine, 0, 1);
      },
      "a deque dies empty");
}

/// An owner and two thieves on real threads; every item is taken once. What the pusher wrote is
/// read by whoever takes it: ThreadSanitizer sees if nothing orders the two.
void one_round(skua::random_generator& random) {
  constexpr std::size_t count = 2'000;
  auto items = std::make_unique<numbered[]>(count);
  auto victim =
      std::make_unique<skua::lifo_deque<skua::std_atomics, skua::process_barrier, 2, 256>>();
  std::atomic<bool> over = false;
  auto take = [](work* one) {
    if (one == nullptr) return false;
    auto& found = static_cast<numbered&>(*one);
    EXPECT_EQ(found.number, 7);
    found.number = 8;
    found.taken.fetch_add(1);
    return true;
  };
  auto steal = [&] {
    while (!over.load()) take(victim->steal());
  };
  std::thread first(steal);
  std::thread second(steal);
  skua::work_queue overflow;
  const std::uint64_t ups = 1 + random.below(4);  // how fast it grows
  for (std::size_t i = 0; i < count; ++i) {
    items[i].number = 7;
    victim->push(items[i], overflow);
    if (random.below(ups + 1) == 0) take(victim->pop());
    if (random.below(64) == 0)
      while (take(victim->pop())) {
      }
  }
  while (take(victim->pop())) {
  }
  over = true;
  first.join();
  second.join();
  while (!overflow.empty()) take(overflow.pop_front());
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(items[i].taken.load(), 1) << "item " << i;
}

TEST(lifo_deque_stress, every_item_is_taken_once) {
  const auto seed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::printf("seed %s\n", std::to_string(seed).c_str());
  skua::random_generator random(seed);
  int rounds = 0;
  for (const skua_test::budget time(1); time.left(); ++rounds) one_round(random);
  std::printf("%d rounds of 2000 items\n", rounds);
}

}  // namespace
