// tests/coro/when_all_test.cpp: branches take turns in their task, and end with it.
#include "skua/coro/when_all.hpp"

#include "skua/coro/as_outcome.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using skua::task;
using skua::when_all;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

task<int> give(int value) {
  co_return value;
}
task<> nothing() {
  co_return;
}
task<int> wait_for(gate& at) {
  co_return co_await gate::wait(at);
}
task<int> fail() {
  throw std::runtime_error("no");
  co_return 0;
}

TEST(when_all, gives_all_values_in_order) {
  manual_executor here;
  auto body = []() -> task<std::string> {
    auto [one, two, none] = co_await when_all(give(1), give(2), nothing());
    EXPECT_EQ(none, skua::unit());
    co_return std::to_string(one) + std::to_string(two);
  };
  driven<std::string> all(here, body());
  here.run_ready();
  EXPECT_EQ(*all.result(), "12");
}

TEST(when_all, waits_for_the_last_whatever_the_order) {
  manual_executor here;
  gate first;
  gate second;
  auto body = [](gate& a, gate& b) -> task<int> {
    auto [one, two] = co_await when_all(wait_for(a), wait_for(b));
    co_return one * 10 + two;
  };
  driven<int> all(here, body(first, second));
  here.run_ready();
  EXPECT_TRUE(first.waited_for() && second.waited_for()) << "both have begun";
  second.open(2);
  here.run_ready();
  EXPECT_FALSE(all.ended());
  first.open(1);
  here.run_ready();
  EXPECT_EQ(*all.result(), 12);
}

TEST(when_all, takes_leaves_as_they_are) {
  manual_executor here;
  gate first;
  gate second;
  auto body = [](gate& a, gate& b) -> task<int> {
    auto [one, two] = co_await when_all(gate::wait(a), gate::wait(b));
    co_return one * 10 + two;
  };
  driven<int> all(here, body(first, second));
  here.run_ready();
  first.open(1);
  second.open(2);
  here.run_ready();
  EXPECT_EQ(*all.result(), 12);
}

TEST(when_all, of_a_vector_gives_a_vector) {
  manual_executor here;
  auto body = []() -> task<int> {
    std::vector<task<int>> tasks;
    for (int i = 0; i < 1'000; ++i) tasks.push_back(give(i));
    const std::vector<int> values = co_await when_all(std::move(tasks));
    EXPECT_EQ(values.size(), 1'000U);
    std::vector<task<>> more;
    for (int i = 0; i < 10; ++i) more.push_back(nothing());
    co_await when_all(std::move(more));
    co_await when_all(std::vector<task<int>>());
    co_return values[999];
  };
  driven<int> all(here, body());
  here.run_ready();
  EXPECT_EQ(*all.result(), 999);
}

TEST(when_all, that_fails_stops_the_others_and_waits_for_them) {
  manual_executor here;
  gate slow;
  slow.answer = skua::cancel_answer::pending;
  auto body = [](gate& at) -> task<int> {
    auto [one, two] = co_await when_all(wait_for(at), fail());
    co_return one + two;
  };
  driven<int> all(here, body(slow));
  here.run_ready();
  EXPECT_FALSE(all.ended()) << "the other has not let go";
  slow.open_cancelled();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().has_exception());
}

TEST(when_all, that_is_stopped_stops_its_branches_and_unwinds) {
  manual_executor here;
  gate first;
  gate second;
  auto body = [](gate& a, gate& b) -> task<int> {
    co_await when_all(wait_for(a), wait_for(b));
    co_return 1;
  };
  driven<int> all(here, body(first, second));
  here.run_ready();
  all.request_stop();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().stopped());
}

TEST(when_all, may_be_nested) {
  manual_executor here;
  gate last;
  auto inner = [](gate& at) -> task<int> {
    auto [one, two] = co_await when_all(wait_for(at), give(2));
    co_return one + two;
  };
  auto body = [&inner](gate& at) -> task<int> {
    auto [one, two] = co_await when_all(inner(at), give(4));
    co_return one + two;
  };
  driven<int> all(here, body(last));
  here.run_ready();
  last.open(1);
  here.run_ready();
  EXPECT_EQ(*all.result(), 7);
}

}  // namespace
