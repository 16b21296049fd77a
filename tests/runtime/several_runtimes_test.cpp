// tests/runtime/several_runtimes_test.cpp: runtimes beside and inside each other keep apart.
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using skua::join_handle;
using skua::runtime;
using skua::spawn;
using skua::task;
using skua_test::entry;
using skua_test::kind;
using skua_test::ledger;
using skua_test::shared_gate;

task<int> give(int value) {
  co_return value;
}

task<int> give_after(shared_gate& at, int value) {
  co_await shared_gate::wait(at);
  co_return value;
}

task<> hold_at(shared_gate& at, entry parameter) {
  co_await shared_gate::wait(at);
  EXPECT_TRUE(parameter.whole());
}

task<int> join(join_handle<int> handle) {
  co_return co_await std::move(handle);
}

task<int> spawn_and_join(int value) {
  co_return co_await spawn(give(value));
}

/// Every kind with every other.
class two_runtimes : public testing::TestWithParam<std::tuple<kind, kind>> {
protected:
  [[nodiscard]] runtime start_one() { return skua_test::started(std::get<0>(GetParam()), log); }
  [[nodiscard]] runtime start_other() { return skua_test::started(std::get<1>(GetParam()), log); }
  [[nodiscard]] bool one_is_multi() const { return !std::get<0>(GetParam()).is_alone(); }
  [[nodiscard]] bool other_is_multi() const { return !std::get<1>(GetParam()).is_alone(); }

  skua_test::log_recorder log;
};

TEST_P(two_runtimes, join_each_other_s_tasks) {
  auto one = start_one();
  auto other = start_other();
  shared_gate at;
  auto child = other.spawn(give_after(at, 7));
  shared_gate until;
  std::optional<std::jthread> drives;
  if (!other_is_multi()) drives.emplace([&] { other.block_on(give_after(until, 0)); });
  at.await_waiters();
  auto joiner = one.spawn(join(std::move(child)));
  const std::jthread opener([&] { at.open(); });
  EXPECT_EQ(one.block_on(std::move(joiner)), 7);
  until.open();
}

TEST_P(two_runtimes, spawn_into_each_other) {
  auto one = start_one();
  auto other = start_other();
  const auto there = other.get_handle();
  shared_gate until;
  std::optional<std::jthread> drives;
  if (!other_is_multi()) {
    drives.emplace([&] { other.block_on(give_after(until, 0)); });
    until.await_waiters();
  }
  const auto spawns = [&]() -> task<int> {
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += co_await there.spawn(spawn_and_join(1));
    co_return sum;
  };
  EXPECT_EQ(one.block_on(spawns), 100);
  until.open();
  drives.reset();
  EXPECT_EQ(other.metrics().spawned, other_is_multi() ? 200U : 201U);
  EXPECT_EQ(one.metrics().spawned, 1U);
}

TEST_P(two_runtimes, abort_each_other_s_tasks) {
  auto one = start_one();
  auto other = start_other();
  shared_gate never;
  auto child = other.spawn(give_after(never, 7));
  const auto aborts = [&]() -> task<> {
    child.abort();
    co_return;
  };
  one.block_on(aborts);
  const auto ends = [&]() -> task<bool> {
    const auto how = co_await child.outcome();
    co_return how.stopped();
  };
  EXPECT_TRUE(other.block_on(ends));
}

TEST_P(two_runtimes, end_while_a_task_of_the_one_waits_for_the_other) {
  auto one = start_one();
  shared_gate never;
  {
    auto other = start_other();
    auto joiner = one.spawn(join(other.spawn(give_after(never, 7))));
    joiner.detach();
    if (!one_is_multi()) one.block_on(skua::yield());
  }
  EXPECT_TRUE(one.shutdown().complete());
}

TEST_P(two_runtimes, the_inner_one_ends_in_a_task_of_the_outer) {
  auto outer = start_one();
  ledger frames;
  shared_gate never;
  const auto script = [&]() -> task<int> {
    {
      auto inner = start_other();
      for (int i = 0; i < 10; ++i) inner.spawn(hold_at(never, entry(frames))).detach();
    }  // waits for tasks that may not even have started
    EXPECT_TRUE(frames.balanced(10));
    co_return co_await spawn(give(3));
  };
  EXPECT_EQ(outer.block_on(script), 3);
  EXPECT_EQ(outer.block_on(spawn_and_join(4)), 4);
}

TEST_P(two_runtimes, the_inner_one_is_shut_down_in_a_task_of_the_outer) {
  auto outer = start_one();
  auto inner = start_other();
  shared_gate never;
  auto child = inner.spawn(give_after(never, 1));
  const auto script = [&]() -> task<int> {
    EXPECT_TRUE(inner.shutdown().complete());
    EXPECT_TRUE(child.done());
    co_return co_await spawn(give(3));
  };
  EXPECT_EQ(outer.block_on(script), 3);
}

TEST_P(two_runtimes, the_inner_one_blocks_in_a_blocking_call_of_the_outer) {
  auto outer = start_one();
  auto inner = start_other();
  const auto calls = [&] {
    EXPECT_EQ(inner.block_on(spawn_and_join(5)), 5);
    auto child = spawn(give(6));  // in the outer one again
    return child.id() != 0;
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(outer.block_on(skua::spawn_blocking(calls)));
  EXPECT_EQ(outer.metrics().spawned, 6U);
  EXPECT_EQ(inner.metrics().spawned, 6U);
}

TEST_P(two_runtimes, the_inner_one_blocks_in_a_blocking_section_of_the_outer) {
  if (!std::get<0>(GetParam()).steals()) GTEST_SKIP() << "there is none";
  auto outer = start_one();
  auto inner = start_other();
  const auto script = [&]() -> task<int> {
    const int got = skua::block_in_place([&] { return inner.block_on(spawn_and_join(5)); });
    EXPECT_EQ(got, 5);
    co_return co_await spawn(give(3));
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(outer.block_on(script), 3);
  EXPECT_EQ(outer.metrics().spawned, 20U);
}

TEST_P(two_runtimes, know_which_one_is_the_current) {
  auto one = start_one();
  auto other = start_other();
  const auto here = [] { return runtime::handle::current().metrics().spawned; };
  EXPECT_EQ(one.block_on(here), 1U);
  EXPECT_EQ(one.block_on(here), 2U);
  EXPECT_EQ(other.block_on(here), 1U);
}

std::string names_of(const testing::TestParamInfo<std::tuple<kind, kind>>& info) {
  return testing::PrintToString(std::get<0>(info.param)) + "_and_" +
         testing::PrintToString(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(runtimes, two_runtimes,
                         testing::Combine(skua_test::every_kind(), skua_test::every_kind()),
                         names_of);

TEST(many_runtimes, of_all_kinds_run_at_once) {
  skua_test::log_recorder log;
  std::vector<runtime> all;
  for (int i = 0; i < 4; ++i)
    for (const auto& one : skua_test::all_kinds) all.push_back(skua_test::started(one, log));
  std::vector<std::jthread> callers;
  for (runtime& one : all)
    callers.emplace_back([&one] {
      for (int i = 0; i < 20; ++i) EXPECT_EQ(one.block_on(spawn_and_join(i)), i);
    });
  callers.clear();
  for (const runtime& one : all) EXPECT_EQ(one.metrics().spawned, 40U);
}

}  // namespace
