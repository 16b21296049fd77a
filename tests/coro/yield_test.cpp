// tests/coro/yield_test.cpp: a task gives way when it wants to, or when it has had its share.
#include "skua/coro/yield.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/unconstrained.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"
#include "support/noted.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using skua::as_outcome;
using skua::consume_budget;
using skua::shielded;
using skua::task;
using skua::unconstrained;
using skua::yield;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;
using skua_test::noted;

task<> writes(std::string& log, char letter, int times) {
  for (int i = 0; i < times; ++i) {
    log += letter;
    co_await yield();
  }
}

TEST(yield, puts_the_task_behind_what_is_ready) {
  manual_executor here;
  std::string log;
  driven<void> first(here, writes(log, 'a', 3));
  driven<void> second(here, writes(log, 'b', 3));
  driven<void> third(here, writes(log, 'c', 1));
  EXPECT_EQ(here.run_ready(), 4U + 4 + 2);
  EXPECT_EQ(log, "abcabab");
  EXPECT_TRUE(first.ended() && second.ended() && third.ended());
}

TEST(yield, takes_one_turn_each_from_any_depth) {
  manual_executor here;
  std::string log;
  auto outer = [](std::string& to) -> task<> {
    co_await writes(to, 'x', 2);
    co_await yield();
    co_await writes(to, 'y', 1);
  };
  driven<void> whole(here, outer(log));
  EXPECT_EQ(here.run_ready(), 5U);
  EXPECT_EQ(log, "xxy");
}

TEST(yield, works_in_sync_wait_and_in_generators) {
  auto numbers = []() -> skua::async_generator<int> {
    for (int i = 0; i < 3; ++i) {
      co_await yield();
      co_yield i;
    }
  };
  auto sums = [](skua::async_generator<int> from) -> task<int> {
    int sum = 0;
    while (auto next = co_await from.next()) sum += *next;
    co_return sum;
  };
  EXPECT_EQ(skua::sync_wait(sums(numbers())), 3);
}

TEST(yield, unwinds_a_task_that_was_asked_to_stop_before) {
  manual_executor here;
  std::string log;
  auto body = [](std::string& to, gate& at) -> task<> {
    const noted outer(to, "outer");
    auto inner = [](std::string& of, gate& wait_at) -> task<> {
      const noted mine(of, "inner ");
      co_await shielded(gate::wait(wait_at));
      of += "still running ";
      co_await yield();
      of += "not reached ";
    };
    co_await inner(to, at);
  };
  gate door;
  driven<void> whole(here, body(log, door));
  here.run_ready();
  whole.request_stop();
  door.open();
  here.run_ready();
  EXPECT_TRUE(whole.ended());
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_EQ(log, "still running inner outer");
}

TEST(yield, unwinds_a_task_that_was_asked_to_stop_meanwhile) {
  manual_executor here;
  std::string log;
  driven<void> whole(here, writes(log, 'a', 10));
  EXPECT_TRUE(here.run_one());
  EXPECT_TRUE(here.run_one());
  whole.request_stop();
  EXPECT_EQ(here.run_ready(), 1U) << "it was queued already, and is queued once";
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_EQ(log, "aa");
}

TEST(yield, ends_a_stopped_child_at_as_outcome_and_stops_again_behind_it) {
  manual_executor here;
  std::string log;
  auto body = [](std::string& to) -> task<> {
    const auto how = co_await as_outcome(writes(to, 'a', 10));
    to += how.stopped() ? "stopped" : "ended";
    co_await yield();
    to += " not reached";
  };
  driven<void> whole(here, body(log));
  EXPECT_TRUE(here.run_one());
  whole.request_stop();
  EXPECT_EQ(here.run_ready(), 1U);
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_EQ(log, "astopped");
}

TEST(yield, can_be_awaited_by_as_outcome_itself) {
  manual_executor here;
  auto body = []() -> task<bool> {
    const auto how = co_await as_outcome(yield());
    co_return how.has_value();
  };
  driven<bool> whole(here, body());
  EXPECT_EQ(here.run_ready(), 2U);
  EXPECT_TRUE(*whole.result());
  driven<bool> other(here, body());
  EXPECT_TRUE(here.run_one());
  other.request_stop();
  here.run_ready();
  EXPECT_FALSE(*other.result()) << "a stop is a value there";
}

TEST(yield, goes_on_behind_a_shield) {
  manual_executor here;
  std::string log;
  auto body = [](std::string& to) -> task<> {
    co_await shielded(writes(to, 'a', 3));
    to += "b";
    co_await yield();
    to += "not reached";
  };
  driven<void> whole(here, body(log));
  EXPECT_TRUE(here.run_one());
  whole.request_stop();
  here.run_ready();
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_EQ(log, "aaab");
}

task<> consumes(int& done, int times) {
  for (int i = 0; i < times; ++i) {
    co_await consume_budget();
    ++done;
  }
}

TEST(consume_budget, never_gives_way_where_nobody_waits_for_the_thread) {
  manual_executor here;
  int done = 0;
  driven<void> whole(here, consumes(done, 100'000));
  EXPECT_EQ(here.run_ready(), 1U);
  EXPECT_EQ(done, 100'000);
  EXPECT_TRUE(whole.ended());
}

TEST(consume_budget, gives_way_when_the_turn_is_used_up) {
  manual_executor here;
  skua::turn now;
  now.budget = 3;
  int done = 0;
  driven<void> whole(here, consumes(done, 10));
  whole.in_turn = &now;
  EXPECT_TRUE(here.run_one());
  EXPECT_EQ(done, 3);
  EXPECT_EQ(now.budget, 0U);
  now.budget = 2;
  EXPECT_TRUE(here.run_one());
  EXPECT_EQ(done, 3 + 1 + 2) << "the one that gave way is done, too";
  now.budget = 100;
  EXPECT_TRUE(here.run_one());
  EXPECT_EQ(done, 10);
  EXPECT_EQ(now.budget, 100U - 3);
  EXPECT_TRUE(whole.ended());
}

TEST(consume_budget, unwinds_a_task_that_was_asked_to_stop_when_it_has_to_give_way) {
  manual_executor here;
  skua::turn now;
  now.budget = 3;
  int done = 0;
  driven<void> whole(here, consumes(done, 10));
  whole.in_turn = &now;
  EXPECT_TRUE(here.run_one());
  whole.request_stop();
  EXPECT_EQ(here.run_ready(), 1U);
  EXPECT_EQ(done, 3);
  EXPECT_TRUE(whole.result().stopped());
}

TEST(unconstrained, takes_nothing_from_the_turn_while_it_lasts) {
  manual_executor here;
  skua::turn now;
  now.budget = 5;
  int done = 0;
  auto body = [](int& count) -> task<> {
    co_await consumes(count, 2);
    co_await unconstrained(consumes(count, 1'000));
    co_await unconstrained(unconstrained(consumes(count, 1'000)));
    co_await unconstrained(consume_budget());
    co_await consumes(count, 4);
  };
  driven<void> whole(here, body(done));
  whole.in_turn = &now;
  EXPECT_TRUE(here.run_one());
  EXPECT_EQ(done, 2'005) << "then it has to give way";
  EXPECT_EQ(now.budget, 0U);
  EXPECT_TRUE(here.run_one());
  EXPECT_TRUE(whole.ended());
}

TEST(unconstrained, still_yields_and_waits) {
  manual_executor here;
  gate door;
  std::string log;
  auto body = [](std::string& to, gate& at) -> task<> {
    co_await writes(to, 'a', 2);
    co_await gate::wait(at);
    to += 'b';
  };
  auto lifted = [](task<> what) -> task<> { co_await unconstrained(std::move(what)); };
  driven<void> whole(here, lifted(body(log, door)));
  EXPECT_EQ(here.run_ready(), 3U);
  EXPECT_TRUE(door.waited_for());
  door.open();
  here.run_ready();
  EXPECT_EQ(log, "aab");
  EXPECT_TRUE(whole.ended());
}

TEST(unconstrained, ends_with_a_value_an_exception_or_a_stop) {
  manual_executor here;
  skua::turn now;
  gate door;
  int done = 0;
  auto fails = []() -> task<> {
    throw std::runtime_error("on purpose");
    co_return;
  };
  auto waits = [](gate& at) -> task<> { co_await gate::wait(at); };
  auto body = [](task<> first, task<> second, int& count) -> task<> {
    EXPECT_THROW(co_await unconstrained(std::move(first)), std::runtime_error);
    const auto how = co_await as_outcome(unconstrained(std::move(second)));
    EXPECT_TRUE(how.stopped());
    co_await shielded(consumes(count, 10));
  };
  driven<void> whole(here, body(fails(), waits(door), done));
  whole.in_turn = &now;
  here.run_ready();
  EXPECT_EQ(whole.unconstrained, 1U);
  now.budget = 3;
  whole.request_stop();
  EXPECT_TRUE(here.run_one());
  EXPECT_EQ(whole.unconstrained, 0U);
  EXPECT_EQ(done, 3) << "it counts again";
  now.budget = 10;
  here.run_ready();
  EXPECT_TRUE(whole.ended());
}

}  // namespace
