// tests/runtime/join_budget_test.cpp: what is ready at once does not starve other tasks.
#include "skua/coro/current_context.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
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
class one_worker : public skua_test::for_each_kind {
protected:
  skua::runtime start_with_budget(std::uint32_t budget) {
    skua::config settings = skua_test::settings_of(GetParam(), log);
    settings.budget = budget;
    return skua_test::started(settings);
  }
};

TEST_P(one_worker, gives_way_in_a_long_row_of_joins_that_are_ready) {
  auto rt = start_with_budget(8);
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
  auto rt = start_with_budget(8);
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

/// A leaf whose source has completed it before it has begun to wait.
class at_once final : public skua::leaf {
public:
  explicit at_once(int value) noexcept : value_(value) {}
  int await_resume() const noexcept { return value_; }

private:
  void start() noexcept override { complete(); }
  skua::cancel_answer cancel() noexcept override { return skua::cancel_answer::pending; }
  int value_;
};

TEST_P(one_worker, gives_way_in_a_long_row_of_waits_that_end_at_once) {
  auto rt = start_with_budget(8);
  constexpr int waits = 100;
  int over = 0;
  int seen_by_other = -1;
  const auto looks = [&]() -> task<> {
    seen_by_other = over;
    co_return;
  };
  const auto script = [&]() -> task<> {
    spawn(looks).detach();
    for (; over < waits; ++over) EXPECT_EQ(co_await at_once(over), over);
  };
  rt.block_on(script);
  EXPECT_GE(seen_by_other, 0);
  EXPECT_LE(seen_by_other, 8);
  EXPECT_GE(rt.metrics().workers[0].budget_yields, waits / 9 - 1);
}

TEST_P(one_worker, keeps_the_value_of_a_wait_for_which_it_gave_way_in_spite_of_a_stop) {
  auto rt = start_with_budget(8);
  int got = 0;
  const auto waits = [&]() -> task<> {
    for (;;) got += co_await at_once(1);
  };
  const auto script = [&]() -> task<> {
    auto child = spawn(waits);
    co_await skua::yield();  // it has given way, and has a value that it has not taken
    EXPECT_EQ(got, 8);
    child.abort();
    const auto how = co_await child.outcome();
    EXPECT_TRUE(how.stopped());
  };
  rt.block_on(script);
  EXPECT_EQ(got, 9);
}

INSTANTIATE_TEST_SUITE_P(runtimes, one_worker, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

}  // namespace
