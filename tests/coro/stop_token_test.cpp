// tests/coro/stop_token_test.cpp: a standard stop token follows the stop of the task that gave it.
#include "skua/coro/stop_token.hpp"

#include "skua/coro/current_context.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using skua::current_stop_token;
using skua::shielded;
using skua::stop_requested;
using skua::sync_wait;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

/// Leaves its token with the test, then waits.
task<> gives_token(std::stop_token& token, gate& at) {
  token = co_await current_stop_token();
  (void)co_await gate::wait(at);
}

TEST(stop_token, is_not_stopped_at_first) {
  auto ask = []() -> task<bool> {
    const std::stop_token token = co_await current_stop_token();
    EXPECT_TRUE(token.stop_possible());
    co_return token.stop_requested();
  };
  EXPECT_FALSE(sync_wait(ask()));
}

TEST(stop_token, shows_a_stop_of_a_suspended_task) {
  manual_executor here;
  gate at;
  std::stop_token token;
  driven<void> whole(here, gives_token(token, at));
  here.run_ready();
  EXPECT_FALSE(token.stop_requested());
  EXPECT_TRUE(whole.request_stop());
  EXPECT_TRUE(token.stop_requested());
  here.run_ready();
  EXPECT_TRUE(whole.result().stopped());
}

TEST(stop_token, shows_a_stop_that_came_before_it_was_asked_for) {
  auto ask = []() -> task<bool> {
    skua::context& own = co_await skua::current_context();
    own.request_stop();
    const std::stop_token token = co_await current_stop_token();
    co_return token.stop_requested();
  };
  EXPECT_TRUE(sync_wait(ask()));
}

TEST(stop_token, shows_a_stop_of_a_running_task) {
  auto ask = []() -> task<bool> {
    const std::stop_token token = co_await current_stop_token();
    skua::context& own = co_await skua::current_context();
    EXPECT_FALSE(token.stop_requested());
    std::thread([&own] { own.request_stop(); }).join();
    co_return token.stop_requested();
  };
  EXPECT_TRUE(sync_wait(ask()));
}

TEST(stop_token, runs_callbacks_once_on_the_thread_that_asks) {
  manual_executor here;
  gate at;
  std::stop_token token;
  driven<void> whole(here, gives_token(token, at));
  here.run_ready();
  int calls = 0;
  std::thread::id called_on;
  std::stop_callback callback(token, [&] {
    ++calls;
    called_on = std::this_thread::get_id();
    EXPECT_EQ(at.cancels(), 0) << "told before the leaf is cancelled";
  });
  std::thread::id asked_on;
  std::thread([&] {
    asked_on = std::this_thread::get_id();
    EXPECT_TRUE(whole.request_stop());
    EXPECT_FALSE(whole.request_stop());
  }).join();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(called_on, asked_on);
  here.run_ready();
  EXPECT_TRUE(whole.ended());
  EXPECT_EQ(calls, 1);
}

TEST(stop_token, outlives_a_task_that_was_not_stopped) {
  std::stop_token token;
  {
    auto ask = [&]() -> task<> { token = co_await current_stop_token(); };
    sync_wait(ask());
  }
  EXPECT_FALSE(token.stop_requested());
  EXPECT_FALSE(token.stop_possible()) << "nobody is left to ask";
  const std::stop_callback never(token, [] { FAIL(); });
}

TEST(stop_token, outlives_a_task_that_was_stopped) {
  std::stop_token token;
  std::optional<std::stop_callback<void (*)()>> callback;
  static int calls = 0;
  calls = 0;
  {
    manual_executor here;
    gate at;
    driven<void> whole(here, gives_token(token, at));
    here.run_ready();
    callback.emplace(token, [] { ++calls; });
    whole.request_stop();
    here.run_ready();
    EXPECT_TRUE(whole.ended());
  }
  EXPECT_TRUE(token.stop_requested());
  callback.reset();
  EXPECT_EQ(calls, 1);
}

TEST(stop_token, is_one_for_the_whole_task) {
  manual_executor here;
  gate at;
  std::vector<std::stop_token> tokens;
  auto child = [&]() -> task<> { tokens.push_back(co_await current_stop_token()); };
  auto parent = [&]() -> task<> {
    tokens.push_back(co_await current_stop_token());
    co_await child();
    tokens.push_back(co_await current_stop_token());
    (void)co_await gate::wait(at);
  };
  driven<void> whole(here, parent());
  driven<void> other(here, child());
  here.run_ready();
  ASSERT_EQ(tokens.size(), 4U);
  EXPECT_EQ(tokens[0], tokens[1]);
  EXPECT_EQ(tokens[0], tokens[2]);
  EXPECT_NE(tokens[0], tokens[3]) << "of another task";
  whole.request_stop();
  EXPECT_TRUE(tokens[1].stop_requested());
  EXPECT_FALSE(tokens[3].stop_requested());
  here.run_ready();
  EXPECT_TRUE(whole.result().stopped());
}

TEST(stop_token, shows_no_stop_behind_a_shield_until_that_ends) {
  manual_executor here;
  gate shut;
  gate after;
  std::stop_token token;
  bool asked_inside = true;
  bool told_at_end = false;
  std::thread::id called_on;
  std::optional<std::stop_callback<std::function<void()>>> callback;
  auto inside = [&]() -> task<> {
    (void)co_await gate::wait(shut);
    asked_inside = co_await stop_requested();
  };
  auto whole_body = [&]() -> task<> {
    token = co_await current_stop_token();
    callback.emplace(token, [&] { called_on = std::this_thread::get_id(); });
    co_await shielded(inside());
    told_at_end = token.stop_requested();
    (void)co_await gate::wait(after);
  };
  driven<void> whole(here, whole_body());
  here.run_ready();
  std::thread([&] { EXPECT_TRUE(whole.request_stop()); }).join();
  EXPECT_FALSE(token.stop_requested());
  EXPECT_FALSE(whole.stop_requested());
  here.run_ready();
  EXPECT_EQ(shut.cancels(), 0);
  EXPECT_FALSE(whole.ended());
  shut.open();
  here.run_ready();
  EXPECT_FALSE(asked_inside);
  EXPECT_TRUE(told_at_end);
  EXPECT_EQ(called_on, std::this_thread::get_id()) << "where the shield ends";
  EXPECT_TRUE(whole.ended());
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_FALSE(after.waited_for());
}

TEST(stop_token, first_asked_for_behind_two_shields_shows_the_stop_when_both_have_ended) {
  std::stop_token token;
  auto inside = [&]() -> task<> {
    skua::context& own = co_await skua::current_context();
    own.request_stop();
    token = co_await current_stop_token();
    EXPECT_FALSE(token.stop_requested());
  };
  auto between = [&]() -> task<> {
    co_await shielded(inside());
    EXPECT_FALSE(token.stop_requested()) << "the outer shield still holds";
  };
  auto whole_body = [&]() -> task<> {
    co_await shielded(between());
    EXPECT_TRUE(token.stop_requested());
  };
  sync_wait(whole_body());
  EXPECT_TRUE(token.stop_requested());
}

TEST(stop_token, wakes_a_thread_that_waits_for_it) {
  manual_executor here;
  gate at;
  std::stop_token token;
  driven<void> whole(here, gives_token(token, at));
  here.run_ready();
  std::atomic<bool> woken = false;
  std::thread waiting([&] {
    const std::stop_callback wake(token, [&] {
      woken = true;
      woken.notify_all();
    });
    woken.wait(false);
  });
  std::thread asking([&] { whole.request_stop(); });
  asking.join();
  waiting.join();
  here.run_ready();
  EXPECT_TRUE(whole.ended());
}

TEST(stop_requested, tells_a_computation_without_a_leaf) {
  auto compute = []() -> task<int> {
    skua::context& own = co_await skua::current_context();
    int steps = 0;
    for (;;) {
      const bool stop = co_await stop_requested();
      if (stop) break;
      if (++steps == 10) own.request_stop();
    }
    co_return steps;
  };
  EXPECT_EQ(sync_wait(compute()), 10);
}

}  // namespace
