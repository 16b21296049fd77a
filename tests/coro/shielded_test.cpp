// tests/coro/shielded_test.cpp: what is shielded runs to its end; the stop waits behind it.
#include "skua/coro/shielded.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/sync_wait.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using skua::as_outcome;
using skua::shielded;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

task<int> wait_for(gate& at) {
  co_return co_await gate::wait(at);
}

task<int> shielded_then_bare(gate& inside, gate& outside) {
  const int value = co_await shielded(wait_for(inside));
  co_return value + co_await gate::wait(outside);
}

TEST(shielded, passes_value_and_exception) {
  auto fails = []() -> task<> {
    throw std::runtime_error("no");
    co_return;
  };
  auto value = []() -> task<std::string> { co_return "value"; };
  EXPECT_EQ(skua::sync_wait(shielded(value())), "value");
  EXPECT_THROW(skua::sync_wait(shielded(fails())), std::runtime_error);
}

TEST(shielded, a_stop_inside_takes_effect_at_the_first_leaf_after) {
  manual_executor here;
  gate inside;
  gate outside;
  driven<int> whole(here, shielded_then_bare(inside, outside));
  here.run_ready();
  EXPECT_TRUE(whole.request_stop());
  EXPECT_FALSE(whole.stop_requested()) << "hidden";
  EXPECT_EQ(inside.cancels(), 0);
  EXPECT_EQ(here.run_ready(), 0U);
  inside.open(1);
  here.run_ready();
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_FALSE(outside.waited_for());
  EXPECT_TRUE(whole.stop_requested());
}

TEST(shielded, starts_in_a_task_that_was_already_asked_to_stop) {
  manual_executor here;
  gate first;
  gate second;
  bool cleaned = false;
  auto body = [](gate& a, gate& b, bool& done) -> task<> {
    auto how = co_await as_outcome(wait_for(a));
    EXPECT_TRUE(how.stopped());
    co_await shielded(wait_for(b));  // cleaning up
    done = true;
  };
  driven<void> whole(here, body(first, second, cleaned));
  here.run_ready();
  whole.request_stop();
  here.run_ready();
  EXPECT_TRUE(second.waited_for());
  second.open();
  here.run_ready();
  EXPECT_TRUE(cleaned);
  EXPECT_TRUE(whole.result().has_value());
}

TEST(shielded, nests_and_the_outermost_lifts_the_shield) {
  manual_executor here;
  gate first;
  gate second;
  auto inner = [](gate& a, gate& b) -> task<int> {
    const int one = co_await shielded(wait_for(a));
    co_return one + co_await gate::wait(b);  // still behind the outer shield
  };
  auto outer = [&](gate& a, gate& b) -> task<int> { co_return co_await shielded(inner(a, b)); };
  driven<int> whole(here, outer(first, second));
  here.run_ready();
  whole.request_stop();
  first.open(1);
  here.run_ready();
  EXPECT_TRUE(second.waited_for());
  second.open(2);
  here.run_ready();
  EXPECT_EQ(*whole.result(), 3);
}

TEST(shielded, ends_with_an_exception_and_lifts_the_shield) {
  manual_executor here;
  gate inside;
  gate outside;
  auto throwing = [](gate& a) -> task<> {
    co_await gate::wait(a);
    throw std::runtime_error("no");
  };
  auto body = [&](gate& a, gate& b) -> task<> {
    try {
      co_await shielded(throwing(a));
    } catch (const std::runtime_error&) {
    }
    co_await gate::wait(b);
  };
  driven<void> whole(here, body(inside, outside));
  here.run_ready();
  inside.open();
  here.run_ready();
  EXPECT_TRUE(outside.waited_for());
  whole.request_stop();
  here.run_ready();
  EXPECT_TRUE(whole.result().stopped());
}

}  // namespace
