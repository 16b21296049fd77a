// tests/runtime/parallel_group_test.cpp: chains on all workers, awaited whatever happens.
#include "skua/runtime/parallel_group.hpp"

#include "skua/runtime/parallel_all.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::parallel_all;
using skua::spawn;
using skua::task;

class parallel : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, parallel, skua_test::every_kind(), skua_test::name_of_kind);

task<int> give(int value) {
  co_return value;
}
task<> nothing() {
  co_return;
}
task<int> fail() {
  co_await skua::yield();
  throw std::runtime_error("no");
}
task<int> for_ever() {
  co_await skua::sleep(1h);
  co_return 0;
}

task<long> fibonacci(int n) {
  if (n < 2) co_return n;
  auto [one, two] = co_await parallel_all(fibonacci(n - 1), fibonacci(n - 2));
  co_return one + two;
}

TEST_P(parallel, gives_all_values_in_order) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [one, two, none] = co_await parallel_all(give(1), give(2), nothing());
    EXPECT_EQ(one * 10 + two, 12);
    EXPECT_EQ(none, skua::unit());
  };
  rt.block_on(body());
}

TEST_P(parallel, may_be_nested) {
  auto rt = start();
  EXPECT_EQ(rt.block_on(fibonacci(16)), 987);
}

TEST_P(parallel, of_a_vector_gives_a_vector) {
  auto rt = start();
  auto body = []() -> task<> {
    std::vector<task<int>> tasks;
    for (int i = 0; i < 1'000; ++i) tasks.push_back(give(i));
    const std::vector<int> values = co_await parallel_all(std::move(tasks));
    EXPECT_EQ(values.at(999), 999);
    std::vector<task<>> more;
    for (int i = 0; i < 10; ++i) more.push_back(nothing());
    co_await parallel_all(std::move(more));
    EXPECT_TRUE((co_await parallel_all(std::vector<task<int>>())).empty());
  };
  rt.block_on(body());
}

TEST_P(parallel, the_first_failure_stops_the_others_and_is_rethrown) {
  auto rt = start();
  auto both = []() -> task<int> {
    auto [one, two] = co_await parallel_all(for_ever(), fail());
    co_return one + two;
  };
  EXPECT_THROW(rt.block_on(both()), std::runtime_error);
}

TEST_P(parallel, a_stop_of_the_task_stops_them_and_unwinds) {
  auto rt = start();
  auto both = []() -> task<int> {
    auto [one, two] = co_await parallel_all(for_ever(), for_ever());
    co_return one + two;
  };
  auto body = [&both]() -> task<> {
    for (int turns = 0; turns < 10; ++turns) {
      auto holder = spawn(both());
      for (int i = 0; i < turns; ++i) co_await skua::yield();
      holder.abort();
      EXPECT_TRUE((co_await holder.outcome()).stopped());
    }
  };
  rt.block_on(body());
}

TEST_P(parallel, of_a_task_that_is_to_stop_never_begin) {
  auto rt = start();
  auto counts = [](std::atomic<int>& sum) -> task<> {
    ++sum;
    co_return;
  };
  auto stops = [&counts](std::atomic<int>& sum) -> task<> {
    skua::context& self = co_await skua::current_context();
    self.request_stop();
    std::vector<task<>> many;
    for (int i = 0; i < 1'000; ++i) many.push_back(counts(sum));
    co_await parallel_all(std::move(many));
  };
  auto body = [&stops]() -> task<> {
    std::atomic<int> sum = 0;
    auto handle = spawn(stops(sum));
    EXPECT_TRUE((co_await handle.outcome()).stopped());
    EXPECT_EQ(sum, 0);
  };
  rt.block_on(body());
}

TEST_P(parallel, that_lose_a_race_are_waited_for) {
  auto rt = start();
  auto both = []() -> task<int> {
    auto [one, two] = co_await parallel_all(for_ever(), for_ever());
    co_return one + two;
  };
  auto body = [&both]() -> task<int> { co_return co_await skua::race(both(), give(7)); };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(rt.block_on(body()), 7);
}

// Two threads meet: each waits for the other, so both have to run at the same time.
task<> meet(std::atomic<int>& here) {
  ++here;
  while (here < 2) std::this_thread::yield();
  co_return;
}

TEST(parallel_group, chains_run_at_the_same_time) {
  auto rt = skua_test::started(skua_test::two_workers.settings());
  auto body = []() -> task<> {
    std::atomic<int> here = 0;
    co_await parallel_all(meet(here), meet(here));
  };
  rt.block_on(body());
}

TEST(parallel_group, also_from_a_branch_of_their_task) {
  auto rt = skua_test::started(skua_test::two_workers.settings());
  auto both = []() -> task<> {
    std::atomic<int> here = 0;
    co_await parallel_all(meet(here), meet(here));
  };
  auto body = [&both]() -> task<> { co_await skua::when_all(both(), nothing()); };
  rt.block_on(body());
}

TEST(parallel_group, in_a_local_task_they_stay_on_its_thread) {
  auto rt = skua_test::started(skua_test::two_workers.settings());
  auto where = []() -> task<std::thread::id> {
    co_await skua::yield();
    co_return std::this_thread::get_id();
  };
  auto local = [&where]() -> task<> {
    const auto home = std::this_thread::get_id();
    auto [one, two] = co_await parallel_all(where(), where());
    EXPECT_EQ(one, home);
    EXPECT_EQ(two, home);
  };
  auto body = [&local]() -> task<> { co_await skua::spawn_local(local()); };
  rt.block_on(body());
}

TEST_P(parallel, what_they_spawn_belongs_to_their_task) {
  auto rt = start();
  std::atomic<int> ended = 0;
  auto child = [](std::atomic<int>& count) -> task<> {
    for (int i = 0; i < 20; ++i) co_await skua::yield();
    ++count;
  };
  auto spawns = [&child](std::atomic<int>& count) -> task<> {
    co_await skua::yield();
    spawn(child(count)).detach();
  };
  auto body = [&]() -> task<> { co_await parallel_all(spawns(ended), spawns(ended)); };
  rt.block_on(body());
  EXPECT_EQ(ended, 2);
}

const skua::task_local<int> number;

TEST_P(parallel, find_the_values_of_their_task) {
  auto rt = start();
  auto read = []() -> task<int> {
    co_await skua::yield();
    const int* const found = co_await number.get();
    co_return found != nullptr ? *found : 0;
  };
  auto both = [&read]() -> task<int> {
    auto [one, two] = co_await parallel_all(read(), number.with(2, read()));
    co_return one * 10 + two;
  };
  EXPECT_EQ(rt.block_on(number.with(1, both())), 12);
}

TEST(parallel_group, may_block_in_place) {
  auto rt = skua_test::started(skua_test::two_workers.settings());
  auto blocks = []() -> task<int> {
    int sum = 0;
    for (int i = 0; i < 50; ++i) {
      sum += skua::block_in_place([] { return 1; });
      co_await skua::consume_budget();
      co_await skua::yield();
    }
    co_return sum;
  };
  auto body = [&blocks]() -> task<> {
    auto [one, two, three] = co_await parallel_all(blocks(), blocks(), blocks());
    EXPECT_EQ(one + two + three, 150);
  };
  rt.block_on(body());
}

TEST(parallel_group, outside_a_runtime_runs_them_one_after_the_other) {
  auto body = []() -> task<int> {
    auto [one, two] = co_await parallel_all(give(1), give(2));
    co_return one * 10 + two;
  };
  EXPECT_EQ(skua::sync_wait(body()), 12);
}

// --- at random

task<int> random_tree(std::uint64_t seed, int depth) {
  std::minstd_rand random(static_cast<unsigned>(seed));
  for (auto i = random() % 3; i > 0; --i) co_await skua::yield();
  if (random() % 40 == 0) throw std::runtime_error("at random");
  if (random() % 40 == 0) co_await skua::sleep(1h);
  if (depth == 0) co_return 1;
  auto [one, two] =
      co_await parallel_all(random_tree(random(), depth - 1), random_tree(random(), depth - 1));
  co_return one + two;
}

task<> stopped_tree(std::uint64_t seed) {
  std::minstd_rand random(static_cast<unsigned>(seed));
  auto tree = spawn(random_tree(random(), 5));
  for (auto i = random() % 60; i > 0; --i) co_await skua::yield();
  tree.abort();
  auto how = co_await tree.outcome();
  if (how.has_value()) {
    EXPECT_EQ(*how, 32);
  }
}

TEST(parallel_group, at_random_waits_for_all) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::minstd_rand random(seed);
  for (const std::size_t workers : {2U, 8U}) {
    auto rt = skua_test::started(skua_test::kind{skua::flavour::multi_thread, workers}.settings());
    const skua_test::budget time(0.5);
    while (time.left()) rt.block_on(stopped_tree(random()));
  }
}

}  // namespace
