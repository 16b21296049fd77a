// tests/sync/group_state_test.cpp: a task_group gives every result once, and leaves nobody behind.
#include "skua/sync/group_state.hpp"

#include "skua/skua.hpp"
#include "skua/sync/task_group.hpp"
#include "support/budget.hpp"
#include "support/runtimes.hpp"
#include "support/tracked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::spawn;
using skua::task;
using skua::task_group;

class sync_task_group : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_task_group, skua_test::every_kind(), skua_test::name_of_kind);

task<int> give(int value) {
  co_return value;
}
task<int> give_later(int value, int turns) {
  for (int i = 0; i < turns; ++i) co_await skua::yield();
  co_return value;
}
task<int> fail() {
  throw std::runtime_error("no");
  co_return 0;
}
task<int> for_ever() {
  co_await skua::sleep(1h);
  co_return 0;
}

TEST_P(sync_task_group, gives_every_result_once_and_then_none) {
  auto rt = start();
  auto body = []() -> task<> {
    task_group<int> group;
    for (int i = 0; i < 100; ++i) group.spawn(give_later(i, i % 5));
    std::vector<int> got;
    while (auto one = co_await group.join_next()) got.push_back(std::move(*one).value());
    std::ranges::sort(got);
    std::vector<int> all(100);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(got, all);
    EXPECT_EQ(group.size(), 0U);
    EXPECT_FALSE(co_await group.join_next());
    group.spawn(give, 7);
    EXPECT_EQ((co_await group.join_next()).value().value(), 7);
  };
  rt.block_on(body());
}

TEST_P(sync_task_group, gives_results_in_the_order_of_the_ends) {
  auto rt = start();
  auto body = []() -> task<> {
    task_group<int> group;
    group.spawn(for_ever());
    group.spawn(give(1));
    EXPECT_EQ((co_await group.join_next())->has_value(), true);
    EXPECT_FALSE(group.try_join_next());
    group.stop();
    EXPECT_TRUE((co_await group.join_next())->stopped());
    EXPECT_FALSE(co_await group.join_next());
    group.spawn(give(2));
    EXPECT_TRUE((co_await group.join_next())->stopped()) << "it was stopped for good";
  };
  rt.block_on(body());
}

TEST_P(sync_task_group, join_all_gives_all_values) {
  auto rt = start();
  auto body = []() -> task<> {
    task_group<int> group;
    for (int i = 0; i < 10; ++i) group.spawn(give(1));
    const std::vector<int> values = co_await group.join_all();
    EXPECT_EQ(values, std::vector<int>(10, 1));
    task_group<> nothing;
    nothing.spawn([]() -> task<> { co_return; });
    co_await nothing.join_all();
  };
  rt.block_on(body());
}

TEST_P(sync_task_group, join_all_stops_the_others_when_one_fails) {
  auto rt = start();
  auto body = []() -> task<int> {
    task_group<int> group;
    group.spawn(for_ever());
    group.spawn(fail());
    const std::vector<int> values = co_await group.join_all();
    co_return values.at(0);
  };
  EXPECT_THROW(rt.block_on(body()), std::runtime_error);
}

struct crowd {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
};

task<int> be_inside(crowd& of) {
  const int now = ++of.inside;
  int most = of.most;
  while (most < now && !of.most.compare_exchange_weak(most, now)) {
  }
  for (int i = 0; i < 5; ++i) co_await skua::yield();
  --of.inside;
  co_return 1;
}

TEST_P(sync_task_group, lets_no_more_than_its_limit_run) {
  auto rt = start();
  auto body = []() -> task<> {
    crowd all;
    task_group<int> group(3);
    for (int i = 0; i < 50; ++i) group.spawn(be_inside(all));
    const auto values = co_await group.join_all();
    EXPECT_EQ(values.size(), 50U);
    EXPECT_LE(all.most, 3);
  };
  rt.block_on(body());
}

TEST_P(sync_task_group, dropping_it_stops_its_tasks) {
  auto rt = start();
  auto body = []() -> task<> {
    task_group<int> group(2);
    for (int i = 0; i < 10; ++i) group.spawn(for_ever());
    co_await skua::yield();
    co_return;
  };
  rt.block_on(body());  // which returns when they have ended
}

task<> wait_for_one(task_group<int>& group, int& got) {
  got = (co_await group.join_next()).value().has_value() ? 1 : 0;
}

TEST_P(sync_task_group, who_is_stopped_in_its_wait_takes_nothing_away) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int turns = 0; turns < 12; ++turns) {
      task_group<int> group;
      int got = 0;
      group.spawn(give_later(1, 5));
      auto waits = spawn(wait_for_one(group, got));
      for (int i = 0; i < turns; ++i) co_await skua::yield();
      waits.abort();
      static_cast<void>(co_await waits.outcome());
      while (auto one = co_await group.join_next()) got += std::move(*one).value();
      EXPECT_EQ(got, 1);
    }
  };
  rt.block_on(body());
}

// Two results are there when the waiting race goes on: it takes one, and the other stays.
TEST_P(sync_task_group, a_race_that_took_one_leaves_the_other) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 50; ++i) {
      task_group<int> group;
      group.spawn(give_later(1, i % 3));
      group.spawn(give_later(2, i % 2));
      auto first = co_await skua::race(group.join_next(), group.join_next());
      int sum = std::move(*first).value();
      while (auto one = co_await group.join_next()) sum += std::move(*one).value();
      EXPECT_EQ(sum, 3);
    }
  };
  rt.block_on(body());
}

// One joiner has a result promised, and loses its race; the other must not have been told that
// there is none.
TEST_P(sync_task_group, who_waits_behind_a_joiner_that_gives_up_gets_the_result) {
  auto rt = start();
  auto second = [](task_group<int>& group, int& got) -> task<> {
    while (auto one = co_await group.join_next()) got += std::move(*one).value();
  };
  auto first = [](task_group<int>& group, int& got) -> task<> {
    auto moment = []() -> task<std::optional<skua::outcome<int>>> {
      for (int i = 0; i < 2; ++i) co_await skua::yield();
      co_return std::nullopt;
    };
    auto one = co_await skua::race(group.join_next(), moment());
    if (one) got += std::move(*one).value();
  };
  auto body = [&]() -> task<> {
    for (int i = 0; i < 50; ++i) {
      task_group<int> group;
      int got = 0;
      group.spawn(give_later(1, i % 5));
      co_await skua::when_all(first(group, got), second(group, got));
      EXPECT_EQ(got, 1);
    }
  };
  rt.block_on(body());
}

TEST(task_group_death, using_one_that_was_moved_from_says_so) {
  task_group<int> from;
  task_group<int> to = std::move(from);
  EXPECT_DEATH(from.stop(), "moved from");  // NOLINT(bugprone-use-after-move): that is the point
}

TEST(task_group, outside_a_runtime_spawning_says_so_and_counts_nothing) {
  task_group<int> group;
  EXPECT_THROW(group.spawn(give(1)), std::logic_error);
  EXPECT_EQ(group.size(), 0U);
}

TEST(task_group_death, a_limit_of_none_says_so) {
  EXPECT_DEATH(task_group<int>(0), "at least one task");
}

// --- at random

task<int> do_something(std::uint64_t seed) {
  std::minstd_rand random(static_cast<unsigned>(seed));
  for (auto i = random() % 4; i > 0; --i) co_await skua::yield();
  if (random() % 8 == 0) throw std::runtime_error("at random");
  if (random() % 8 == 0) co_await skua::sleep(1us);
  co_return 1;
}

task<> drain(task_group<int>& group, std::atomic<int>& ended) {
  while (const auto one = co_await group.join_next()) ++ended;
}

task<> random_group(std::uint64_t seed) {
  std::minstd_rand random(static_cast<unsigned>(seed));
  task_group<int> group(1 + (random() % 5));
  std::atomic<int> ended = 0;
  const int count = static_cast<int>(random() % 50);
  for (int i = 0; i < count; ++i) group.spawn(do_something(random()));
  auto one = spawn(drain(group, ended));
  auto other = spawn(drain(group, ended));
  for (auto i = random() % 30; i > 0; --i) co_await skua::yield();
  one.abort();
  if (random() % 3 == 0) group.stop();
  static_cast<void>(co_await one.outcome());
  co_await std::move(other);
  co_await drain(group, ended);
  EXPECT_EQ(ended, count);
}

TEST(task_group, at_random_every_task_is_joined_once) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::minstd_rand random(seed);
  for (const std::size_t workers : {2U, 8U}) {
    auto rt = skua_test::started(skua_test::kind{skua::flavour::multi_thread, workers}.settings());
    const skua_test::budget time(0.5);
    while (time.left()) rt.block_on(random_group(random()));
  }
}

}  // namespace
