// tests/sync/barrier_test.cpp: all of a round pass together, and one of them is the last.
#include "skua/sync/barrier.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

using skua::barrier;
using skua::spawn_local;
using skua::task;

class sync_barrier : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_barrier, skua_test::every_kind(), skua_test::name_of_kind);

task<bool> arrive(barrier& at) {
  co_return co_await at.arrive_and_wait();
}

TEST(barrier_death, for_nobody_says_so) {
  EXPECT_DEATH(barrier(0), "for one task at least, not for 0");
}

TEST_P(sync_barrier, the_last_to_arrive_lets_all_pass_and_knows_it) {
  auto rt = start();
  auto body = []() -> task<> {
    barrier together(3);
    for (int round = 0; round < 3; ++round) {
      auto first = spawn_local(arrive(together));
      auto second = spawn_local(arrive(together));
      co_await skua::yield();
      EXPECT_TRUE(co_await together.arrive_and_wait());
      EXPECT_FALSE(co_await std::move(first));
      EXPECT_FALSE(co_await std::move(second));
    }
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_barrier, for_one_lets_it_pass_and_leaves_time_for_others) {
  auto rt = start();
  auto body = []() -> task<> {
    barrier alone(1);
    std::atomic<bool> over = false;
    auto other = spawn_local([](std::atomic<bool>& flag) -> task<> {
      flag = true;
      co_return;
    }(over));
    int rounds = 0;
    for (; !over && rounds < 10'000; ++rounds) EXPECT_TRUE(co_await alone.arrive_and_wait());
    EXPECT_LT(rounds, 10'000);
    co_await std::move(other);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_barrier, an_arrival_can_be_awaited_again) {
  auto rt = start();
  auto body = []() -> task<> {
    barrier together(2);
    auto arrival = together.arrive_and_wait();
    auto first = spawn_local(arrive(together));
    co_await skua::yield();
    EXPECT_TRUE(co_await arrival);
    EXPECT_FALSE(co_await std::move(first));
    auto last = spawn_local(arrive(together));
    EXPECT_FALSE(co_await arrival);
    EXPECT_TRUE(co_await std::move(last));
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_barrier, who_is_stopped_has_not_arrived) {
  auto rt = start();
  auto body = []() -> task<> {
    barrier together(2);
    auto gives_up = spawn_local(arrive(together));
    auto never = spawn_local(arrive(together));
    never.abort();
    co_await skua::yield();
    gives_up.abort();
    EXPECT_TRUE((co_await gives_up.outcome()).stopped());
    EXPECT_TRUE((co_await never.outcome()).stopped());
    auto first = spawn_local(arrive(together));
    co_await skua::yield();
    EXPECT_TRUE(co_await together.arrive_and_wait());
    EXPECT_FALSE(co_await std::move(first));
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_barrier, who_loses_a_race_when_the_round_is_complete_has_passed) {
  auto rt = start();
  auto body = []() -> task<> {
    barrier together(2);
    (void)co_await skua::race(arrive(together), arrive(together));
    auto first = spawn_local(arrive(together));
    co_await skua::yield();
    EXPECT_TRUE(co_await together.arrive_and_wait());
    EXPECT_FALSE(co_await std::move(first));
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_barrier, may_be_destroyed_by_any_when_all_have_passed) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto* const together = new barrier(2);
      std::atomic<int> passed = 0;
      auto ends_it = [](barrier* at, std::atomic<int>& count) -> task<> {
        co_await at->arrive_and_wait();
        if (++count == 2) delete at;
      };
      auto first = skua::spawn(ends_it(together, passed));
      auto second = skua::spawn(ends_it(together, passed));
      co_await std::move(first);
      co_await std::move(second);
    }
  };
  rt.block_on(body());
}

task<> go_through(barrier& at, std::size_t rounds, std::vector<std::atomic<std::size_t>>& lasts) {
  for (std::size_t i = 0; i < rounds; ++i) {
    const bool last = co_await at.arrive_and_wait();
    if (last) ++lasts[i];
  }
}

TEST(barrier_stress, every_round_has_one_last) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    const std::size_t count = 1 + random.below(6);
    const std::size_t rounds = 1 + random.below(20);
    barrier together(count);
    std::vector<std::atomic<std::size_t>> lasts(rounds);
    auto make = [&](skua::random_generator) { return go_through(together, rounds, lasts); };
    rt.block_on(skua_test::crowd(count, 0, make, random.split()));
    for (const auto& one : lasts) EXPECT_EQ(one, 1U);
  });
}

TEST(barrier_stress, as_many_pass_as_make_whole_rounds) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    const std::size_t count = 1 + random.below(4);
    barrier together(count);
    std::atomic<std::size_t> passed = 0;
    std::atomic<std::size_t> lasts = 0;
    auto passes = [](barrier& at, std::atomic<std::size_t>& all,
                     std::atomic<std::size_t>& last) -> task<> {
      if (co_await at.arrive_and_wait()) ++last;
      ++all;
    };
    auto body = [&](skua::random_generator own) -> task<> {
      std::vector<skua::join_handle<void>> all;
      for (std::size_t i = 0; i < 50; ++i) {
        all.push_back(skua::spawn(passes(together, passed, lasts)));
        if (own.below(3) == 0) all[own.below(all.size())].abort();
      }
      for (std::uint64_t i = own.below(3); i > 0; --i) co_await skua::yield();
      for (auto& one : all) one.abort();
      for (auto& one : all) (void)co_await one.outcome();
    };
    rt.block_on(body(random.split()));
    EXPECT_EQ(passed, lasts * count);
  });
}

}  // namespace
