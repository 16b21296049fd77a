// tests/coro/await_unless_test.cpp: a limit stops what it limits, and how that ends counts.
#include "skua/coro/await_unless.hpp"

#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

namespace {

using skua::await_unless;
using skua::result;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

static_assert(std::is_same_v<skua::limited<int>, result<int>>);
static_assert(std::is_same_v<skua::limited<void>, result<void>>);
static_assert(std::is_same_v<skua::limited<result<int>>, result<int>>);

task<int> wait_for(gate& at) {
  co_return co_await gate::wait(at);
}
task<> wait_until_open(gate& at) {
  co_await gate::wait(at);
}
task<> throws_when_open(gate& at) {
  co_await gate::wait(at);
  throw std::runtime_error("no");
}
task<> nothing() {
  co_return;
}

/// A task that waits for one gate, unless the other opens first.
class await_unless_of : public testing::Test {
protected:
  using limit_function = task<> (*)(gate&);

  driven<result<int>>& begin(limit_function limit = wait_until_open) {
    whole_.emplace(here, await_unless(wait_for(work), limit(limits), std::errc::timed_out));
    here.run_ready();
    return *whole_;
  }

  manual_executor here;
  gate work;
  gate limits;

private:
  std::optional<driven<result<int>>> whole_;
};

TEST_F(await_unless_of, what_ends_first_gives_its_value_and_stops_the_limit) {
  auto& whole = begin();
  EXPECT_TRUE(work.waited_for() && limits.waited_for()) << "both have begun";
  work.open(3);
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_EQ(*whole.result(), 3);
  EXPECT_EQ(limits.cancels(), 1);
}

TEST_F(await_unless_of, what_is_too_late_is_stopped) {
  auto& whole = begin();
  limits.open();
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_EQ((*whole.result()).error(), std::errc::timed_out);
  EXPECT_EQ(work.cancels(), 1);
}

TEST_F(await_unless_of, what_ends_in_the_same_step_has_ended) {
  auto& whole = begin();
  limits.open();
  work.open(3);
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_EQ(*whole.result(), 3);
}

TEST_F(await_unless_of, what_does_not_let_go_is_awaited) {
  work.answer = skua::cancel_answer::pending;
  auto& whole = begin();
  limits.open();
  here.run_ready();
  EXPECT_FALSE(whole.ended());
  work.open_cancelled();
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_EQ((*whole.result()).error(), std::errc::timed_out);
}

TEST_F(await_unless_of, what_succeeds_in_spite_of_the_stop_gives_its_value) {
  work.answer = skua::cancel_answer::pending;
  auto& whole = begin();
  limits.open();
  here.run_ready();
  work.open(4);
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_EQ(*whole.result(), 4);
}

TEST_F(await_unless_of, a_limit_that_throws_is_thrown_on) {
  auto& whole = begin(throws_when_open);
  limits.open();
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_TRUE(whole.result().has_exception());
  EXPECT_EQ(work.cancels(), 1);
}

TEST_F(await_unless_of, a_limit_that_does_not_wait_leaves_one_chance) {
  work.opens_at_start = true;
  auto& whole = begin([](gate&) { return nothing(); });
  ASSERT_TRUE(whole.ended());
  EXPECT_TRUE((*whole.result()).has_value());
}

TEST_F(await_unless_of, a_stop_of_the_task_stops_both_and_unwinds) {
  auto& whole = begin();
  whole.request_stop();
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_EQ(work.cancels(), 1);
  EXPECT_EQ(limits.cancels(), 1);
}

TEST_F(await_unless_of, a_stop_before_its_start_begins_nothing) {
  driven<result<int>> whole(
      here, await_unless(wait_for(work), wait_until_open(limits), std::errc::timed_out));
  whole.request_stop();
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_FALSE(work.waited_for());
}

TEST_F(await_unless_of, a_value_beats_a_stop_of_the_task) {
  work.answer = skua::cancel_answer::pending;
  auto& whole = begin();
  whole.request_stop();
  here.run_ready();
  EXPECT_FALSE(whole.ended());
  work.open(5);
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_EQ(*whole.result(), 5);
}

}  // namespace
