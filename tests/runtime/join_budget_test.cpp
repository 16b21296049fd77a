// tests/runtime/join_budget_test.cpp: joins that are ready at once do not starve other tasks.
#include "skua/coro/current_context.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace {

using skua::join_handle;
using skua::spawn;
using skua::task;

task<int> give(int value) {
  co_return value;
}

/// With one worker, so that two tasks take turns.
class one_worker : public skua_test::for_each_kind {};

TEST_P(one_worker, gives_way_in_a_long_row_of_joins_that_are_ready) {
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.budget = 8;
  auto rt = skua_test::started(settings);
  constexpr int children = 100;
  int joined = 0;
  int seen_by_other = -1;
  const auto looks = [&]() -> task<> {
    seen_by_other = joined;
    co_return;
  };
  const auto script = [&]() -> task<> {
    std::vector<join_handle<int>> ready;
    for (int i = 0; i < children; ++i) ready.push_back(spawn(give(i)));
    for (auto& one : ready) co_await one.wait();
    spawn(looks).detach();
    for (auto& one : ready) {
      co_await std::move(one);
      ++joined;
    }
  };
  rt.block_on(script);
  EXPECT_EQ(joined, children);
  EXPECT_GE(seen_by_other, 0);
  EXPECT_LE(seen_by_other, 8) << "the other task had its turn when the budget was used up";
  EXPECT_GE(rt.metrics().workers[0].budget_yields, children / 8 - 1);
}

TEST_P(one_worker, stops_a_row_of_ready_joins_when_its_budget_is_used_up) {
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.budget = 8;
  auto rt = skua_test::started(settings);
  int joined = 0;
  const auto joins = [&](std::vector<join_handle<int>> ready) -> task<> {
    skua::context& own = co_await skua::current_context();
    own.request_stop();
    for (auto& one : ready) {
      co_await std::move(one);
      ++joined;
    }
  };
  const auto script = [&]() -> task<> {
    std::vector<join_handle<int>> ready;
    for (int i = 0; i < 100; ++i) ready.push_back(spawn(give(i)));
    for (auto& one : ready) co_await one.wait();
    auto child = spawn(joins(std::move(ready)));
    const auto how = co_await child.outcome();
    EXPECT_TRUE(how.stopped());
  };
  rt.block_on(script);
  EXPECT_LE(joined, 8) << "a value beats a stop, but not for ever";
}

INSTANTIATE_TEST_SUITE_P(runtimes, one_worker, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

}  // namespace
