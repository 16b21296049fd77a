// tests/coro/branch_group_test.cpp: branches learn of a stop at once, and share their task's turn.
#include "skua/coro/branch_group.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/stop_token.hpp"
#include "skua/coro/unconstrained.hpp"
#include "skua/coro/when_all.hpp"
#include "skua/coro/yield.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stop_token>
#include <string>

namespace {

using skua::task;
using skua::when_all;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

/// Something that a branch does in the middle of its turn, where the test can ask for a stop.
using action = std::function<void()>;

task<> nothing() {
  co_return;
}

task<int> looks_for_a_stop(const action& ask, bool& seen) {
  EXPECT_FALSE(co_await skua::stop_requested());
  ask();
  seen = co_await skua::stop_requested();
  co_return 1;
}

TEST(branch_group, a_branch_that_computes_sees_the_stop_of_its_task) {
  manual_executor here;
  bool seen = false;
  skua::context* whom = nullptr;
  const action ask = [&] { whom->request_stop(); };
  auto body = [](const action& how, bool& saw) -> task<> {
    co_await when_all(looks_for_a_stop(how, saw), nothing());
  };
  driven<void> all(here, body(ask, seen));
  whom = &all;
  here.run_ready();
  EXPECT_TRUE(seen);
}

TEST(branch_group, a_shield_in_a_branch_hides_the_stop_of_its_task) {
  manual_executor here;
  bool seen = true;
  skua::context* whom = nullptr;
  const action ask = [&] { whom->request_stop(); };
  auto body = [](const action& how, bool& saw) -> task<> {
    co_await when_all(skua::shielded(looks_for_a_stop(how, saw)), nothing());
  };
  driven<void> all(here, body(ask, seen));
  whom = &all;
  here.run_ready();
  EXPECT_FALSE(seen);
}

task<> watches_its_token(const action& ask, bool& seen) {
  const std::stop_token token = co_await skua::current_stop_token();
  EXPECT_FALSE(token.stop_requested());
  ask();
  seen = token.stop_requested();
}

TEST(branch_group, the_token_of_a_branch_is_told_when_its_task_is) {
  manual_executor here;
  bool seen = false;
  skua::context* whom = nullptr;
  const action ask = [&] { whom->request_stop(); };
  auto body = [](const action& how, bool& saw) -> task<> {
    co_await when_all(when_all(watches_its_token(how, saw), nothing()), nothing());
  };
  driven<void> all(here, body(ask, seen));
  whom = &all;
  here.run_ready();
  EXPECT_TRUE(all.ended());
  EXPECT_TRUE(seen);
}

// The token was told before the shield: what is asked for under it must not hear of that again.
TEST(branch_group, a_shield_hides_a_stop_from_the_token_of_a_branch) {
  manual_executor here;
  gate open;
  gate inner;
  bool ended_well = false;
  auto cleans_up = [](gate& at) -> task<int> {
    const std::stop_token token = co_await skua::current_stop_token();
    co_return co_await gate::wait(at);
  };
  auto body = [&cleans_up](gate& first, gate& second, bool& well) -> task<> {
    const std::stop_token token = co_await skua::current_stop_token();
    static_cast<void>(co_await skua::as_outcome(gate::wait(first)));
    auto [value, none] = co_await skua::shielded(when_all(cleans_up(second), nothing()));
    well = value == 7;
  };
  driven<void> all(here, body(open, inner, ended_well));
  here.run_ready();
  all.request_stop();
  here.run_ready();
  ASSERT_TRUE(inner.waited_for());
  inner.open(7);
  here.run_ready();
  EXPECT_TRUE(ended_well);
}

task<> speak(std::string& said, char what) {
  for (int i = 0; i < 3; ++i) {
    said += what;
    co_await skua::yield();
  }
}

TEST(branch_group, branches_that_give_way_take_turns) {
  manual_executor here;
  std::string said;
  auto body = [](std::string& to) -> task<> { co_await when_all(speak(to, 'a'), speak(to, 'b')); };
  driven<void> all(here, body(said));
  here.run_ready();
  EXPECT_TRUE(all.ended());
  EXPECT_EQ(said, "ababab");
}

// A branch that gives way makes its task do so: other tasks come first.
TEST(branch_group, a_branch_that_gives_way_lets_other_tasks_run) {
  manual_executor here;
  std::string said;
  skua::turn now;
  now.budget = 100;
  auto body = [](std::string& to) -> task<> { co_await when_all(speak(to, 'a'), nothing()); };
  driven<void> branches(here, body(said));
  driven<void> other(here, speak(said, 'b'));
  branches.in_turn = &now;
  other.in_turn = &now;
  for (int i = 0; i < 20; ++i) {
    now.budget = 100;
    here.run_one();
  }
  EXPECT_TRUE(branches.ended() && other.ended());
  EXPECT_EQ(said, "ababab");
}

task<> gives_way_twice(int& turns) {
  co_await skua::yield();
  ++turns;
  co_await skua::yield();
  ++turns;
}

// A task that gives way is unwound if it was asked to stop meanwhile; one with branches has to end
// them first.
TEST(branch_group, a_task_that_gives_way_for_a_branch_goes_on_though_it_is_to_stop) {
  manual_executor here;
  int turns = 0;
  bool reached = false;
  auto body = [](int& had, bool& after) -> task<> {
    co_await when_all(skua::shielded(gives_way_twice(had)), nothing());
    co_await skua::yield();
    after = true;
  };
  driven<void> all(here, body(turns, reached));
  ASSERT_TRUE(here.run_one());
  EXPECT_EQ(turns, 0);
  all.request_stop();
  here.run_ready();
  EXPECT_EQ(turns, 2);
  EXPECT_FALSE(reached);
  EXPECT_TRUE(all.ended());
}

// Without a budget to count against it still gives way.
TEST(branch_group, a_branch_that_gives_way_does_so_though_its_task_is_unconstrained) {
  manual_executor here;
  std::string said;
  skua::turn now;
  auto body = [](std::string& to) -> task<> {
    co_await skua::unconstrained(when_all(speak(to, 'a'), nothing()));
  };
  driven<void> branches(here, body(said));
  driven<void> other(here, speak(said, 'b'));
  branches.in_turn = &now;
  other.in_turn = &now;
  for (int i = 0; i < 20; ++i) here.run_one();
  EXPECT_TRUE(branches.ended() && other.ended());
  EXPECT_EQ(said, "ababab");
}

task<> spends_unconstrained() {
  for (int i = 0; i < 4; ++i) co_await skua::consume_budget();
  co_await skua::yield();
  for (int i = 0; i < 4; ++i) co_await skua::consume_budget();
}

TEST(branch_group, a_branch_may_be_unconstrained_on_its_own) {
  manual_executor here;
  skua::turn now;
  now.budget = 10;
  auto body = []() -> task<> {
    co_await when_all(skua::unconstrained(spends_unconstrained()), nothing());
  };
  driven<void> all(here, body());
  all.in_turn = &now;
  here.run_ready();
  EXPECT_TRUE(all.ended());
  EXPECT_GE(now.budget, 7U) << "only the steps of the group count";
}

TEST(branch_group, what_branches_find_ready_counts_for_their_task) {
  manual_executor here;
  skua::turn now;
  now.budget = 10;
  auto spends = []() -> task<> {
    for (int i = 0; i < 4; ++i) co_await skua::consume_budget();
  };
  auto body = [&spends]() -> task<> { co_await when_all(spends(), spends()); };
  driven<void> all(here, body());
  all.in_turn = &now;
  here.run_ready();
  EXPECT_TRUE(all.ended());
  EXPECT_LE(now.budget, 2U);
}

}  // namespace
