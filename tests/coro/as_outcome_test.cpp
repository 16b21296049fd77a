// tests/coro/as_outcome_test.cpp: a value, an exception or a stop, each as a value to look at.
#include "skua/coro/as_outcome.hpp"

#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task_cancelled.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace {

using skua::as_outcome;
using skua::outcome;
using skua::sync_wait;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

task<std::unique_ptr<int>> boxed(int n) {
  co_return std::make_unique<int>(n);
}
task<int> fails() {
  throw std::runtime_error("no");
  co_return 0;
}
task<int> wait_for(gate& at) {
  co_return co_await gate::wait(at);
}

TEST(as_outcome, gives_a_value) {
  auto look = []() -> task<int> {
    auto how = co_await as_outcome(boxed(4));
    co_return how.has_value() ? **how : -1;
  };
  EXPECT_EQ(sync_wait(look()), 4);
}

TEST(as_outcome, gives_an_exception) {
  auto look = []() -> task<bool> {
    auto how = co_await as_outcome(fails());
    EXPECT_TRUE(how.has_exception());
    EXPECT_THROW(std::move(how).value(), std::runtime_error);
    co_return !how;
  };
  EXPECT_TRUE(sync_wait(look()));
}

TEST(as_outcome, of_nothing_and_of_a_reference) {
  static int object = 3;
  auto nothing = []() -> task<> { co_return; };
  auto reference = []() -> task<int&> { co_return object; };
  auto look = [&]() -> task<bool> {
    auto none = co_await as_outcome(nothing());
    auto same = co_await as_outcome(reference());
    co_return none.has_value() && &*same == &object;
  };
  EXPECT_TRUE(sync_wait(look()));
}

TEST(as_outcome, turns_a_stop_into_a_value_and_the_next_leaf_stops_again) {
  manual_executor here;
  gate first;
  gate second;
  std::string log;
  auto body = [](gate& a, gate& b, std::string& to) -> task<> {
    auto how = co_await as_outcome(wait_for(a));
    to += how.stopped() ? "stopped " : "not ";
    EXPECT_THROW(std::move(how).value(), skua::task_cancelled);
    co_await gate::wait(b);
    to += "never";
  };
  driven<void> whole(here, body(first, second, log));
  here.run_ready();
  whole.request_stop();
  here.run_ready();
  EXPECT_TRUE(whole.ended());
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_EQ(log, "stopped ");
}

TEST(as_outcome, nests_and_the_innermost_catches_the_stop) {
  manual_executor here;
  gate at;
  auto inner = [](gate& a) -> task<bool> {
    auto how = co_await as_outcome(wait_for(a));
    co_return how.stopped();
  };
  auto outer = [&](gate& a) -> task<bool> {
    auto how = co_await as_outcome(inner(a));
    co_return how.has_value() && *how;
  };
  driven<bool> whole(here, outer(at));
  here.run_ready();
  whole.request_stop();
  here.run_ready();
  EXPECT_TRUE(*whole.result());
}

TEST(as_outcome, one_boundary_after_another) {
  manual_executor here;
  gate first;
  gate second;
  auto body = [](gate& a, gate& b) -> task<int> {
    auto one = co_await as_outcome(wait_for(a));
    auto two = co_await as_outcome(wait_for(b));
    co_return (one ? *one : 0) + (two.stopped() ? 100 : 0);
  };
  driven<int> whole(here, body(first, second));
  here.run_ready();
  first.open(5);
  here.run_ready();
  whole.request_stop();
  here.run_ready();
  EXPECT_EQ(*whole.result(), 105);
}

// A context that remembered a boundary of a frame that is gone would look into freed memory.
TEST(as_outcome, leaves_no_trace_when_its_coroutine_has_ended) {
  auto catches = [](gate& a) -> task<bool> {
    auto how = co_await as_outcome(wait_for(a));
    co_return how.stopped();
  };
  auto body = [&](gate& a, gate& b) -> task<> {
    (void)co_await catches(a);
    co_await gate::wait(b);
  };
  for (const bool stopped_inside : {false, true}) {
    manual_executor here;
    gate first;
    gate second;
    driven<void> whole(here, body(first, second));
    here.run_ready();
    if (stopped_inside)
      whole.request_stop();
    else
      first.open();
    here.run_ready();
    whole.request_stop();
    here.run_ready();
    EXPECT_TRUE(whole.ended());
    EXPECT_TRUE(whole.result().stopped());
  }
}

TEST(as_outcome, takes_a_leaf_as_it_is) {
  manual_executor here;
  gate at;
  auto body = [](gate& a) -> task<bool> {
    auto how = co_await as_outcome(gate::wait(a));
    co_return how.stopped();
  };
  driven<bool> whole(here, body(at));
  here.run_ready();
  whole.request_stop();
  here.run_ready();
  EXPECT_TRUE(*whole.result());
}

TEST(as_outcome, borrows_what_has_a_name_or_cannot_be_moved) {
  struct fixed {
    fixed() = default;
    fixed(const fixed&) = delete;
    fixed& operator=(const fixed&) = delete;
    bool await_ready() const { return true; }
    void await_suspend(std::coroutine_handle<>) const {}
    const fixed* await_resume() const { return this; }
  };
  manual_executor here;
  gate at;
  auto body = [](gate& a) -> task<bool> {
    gate::wait named_leaf(a);
    auto one = co_await as_outcome(named_leaf);
    fixed named;
    auto two = co_await as_outcome(named);
    auto three = co_await as_outcome(fixed());
    co_return *one == 6 && *two == &named&& three.has_value();
  };
  driven<bool> whole(here, body(at));
  here.run_ready();
  at.open(6);
  here.run_ready();
  EXPECT_TRUE(*whole.result());
}

TEST(as_outcome, not_awaited_runs_nothing_and_leaks_nothing) {
  auto owned = std::make_shared<int>(1);
  auto child = [](std::shared_ptr<int> held) -> task<int> { co_return *held; };
  {
    auto dropped = as_outcome(child(owned));
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(as_outcome, is_awaited_once) {
  auto twice = []() -> task<> {
    auto named = as_outcome(boxed(1));
    (void)co_await named;
    (void)co_await named;
  };
  EXPECT_DEATH(sync_wait(twice()), "an as_outcome is awaited once");
}

TEST(outcome, is_read_like_a_pointer) {
  outcome<std::string> one;
  one.set_value("text");
  const outcome<std::string> fixed(std::move(one));
  EXPECT_EQ(fixed->size(), 4U);
  EXPECT_EQ(*fixed, "text");
}

TEST(outcome, starts_stopped_and_moves_what_it_has) {
  outcome<std::string> one;
  EXPECT_TRUE(one.stopped());
  one.set_value("long enough not to be stored inside the object");
  outcome<std::string> two(std::move(one));
  EXPECT_EQ(*two, "long enough not to be stored inside the object");
  one = std::move(two);
  EXPECT_EQ(std::move(one).value().size(), 46U);
  one.set_exception(std::make_exception_ptr(1));
  two = std::move(one);
  EXPECT_TRUE(two.has_exception());
  EXPECT_THROW(std::move(two).value(), int);
}

TEST(outcome, reading_a_value_that_is_not_there_is_told) {
  outcome<int> none;
  EXPECT_DEATH((void)*none, "dereferenced only if it has a value");
  EXPECT_THROW(std::move(none).value(), skua::task_cancelled);
}

}  // namespace
