// tests/coro/depth_test.cpp: long loops and deep nests of awaits need no deep stack.
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <stdexcept>

namespace {

using skua::sync_wait;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

constexpr std::size_t usual_stack = std::size_t{8} * 1024 * 1024;
constexpr std::size_t small_stack = std::size_t{128} * 1024;

/// Runs `body` on a thread with exactly this much stack.
void on_stack(std::size_t bytes, void (*body)()) {
  pthread_attr_t with_stack;
  ASSERT_EQ(pthread_attr_init(&with_stack), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&with_stack, bytes), 0);
  pthread_t thread{};
  auto run = [](void* what) -> void* {
    (*static_cast<void (**)()>(what))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &with_stack, run, &body), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&with_stack);
}

task<unsigned> at_once(unsigned n) {
  co_return n;
}

task<unsigned> sum_to(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += co_await at_once(i);
  co_return sum;
}

constexpr int deep = 100'000;
int alive = 0;

struct counted {
  counted() noexcept { ++alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --alive; }
};

enum class bottom { returns, throws, waits };

task<int> nest(int depth, bottom what, gate& at) {
  const counted local;
  if (depth > 0) co_return 1 + co_await nest(depth - 1, what, at);
  if (what == bottom::throws) throw std::runtime_error("from the bottom");
  if (what == bottom::waits) co_return co_await gate::wait(at);
  co_return 0;
}

void loop_of_a_million() {
  constexpr unsigned million = 1'000'000;
  EXPECT_EQ(sync_wait(sum_to(million)), million / 2 * (million - 1));
}

void nest_that_returns() {
  gate unused;
  EXPECT_EQ(sync_wait(nest(deep, bottom::returns, unused)), deep);
  EXPECT_EQ(alive, 0);
}

void nest_that_throws() {
  gate unused;
  EXPECT_THROW(sync_wait(nest(deep, bottom::throws, unused)), std::runtime_error);
  EXPECT_EQ(alive, 0);
}

void nest_that_is_stopped() {
  manual_executor here;
  gate at;
  driven<int> whole(here, nest(deep, bottom::waits, at));
  here.run_ready();
  EXPECT_TRUE(at.waited_for());
  EXPECT_EQ(alive, deep + 1);
  EXPECT_TRUE(whole.request_stop());
  here.run_ready();
  EXPECT_TRUE(whole.ended());
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_EQ(alive, 0);
}

void nest_that_waits_and_returns() {
  manual_executor here;
  gate at;
  driven<int> whole(here, nest(deep, bottom::waits, at));
  here.run_ready();
  at.open(5);
  here.run_ready();
  EXPECT_EQ(*whole.result(), deep + 5);
  EXPECT_EQ(alive, 0);
}

TEST(depth, a_million_awaits_of_a_child_that_ends_at_once) {
  on_stack(usual_stack, loop_of_a_million);
  on_stack(small_stack, loop_of_a_million);
}

TEST(depth, a_hundred_thousand_nested_awaits_that_return) {
  on_stack(usual_stack, nest_that_returns);
  on_stack(small_stack, nest_that_returns);
}

TEST(depth, a_hundred_thousand_nested_awaits_that_wait_and_return) {
  on_stack(usual_stack, nest_that_waits_and_returns);
  on_stack(small_stack, nest_that_waits_and_returns);
}

TEST(depth, a_hundred_thousand_nested_awaits_that_end_by_an_exception) {
  on_stack(usual_stack, nest_that_throws);
  on_stack(small_stack, nest_that_throws);
}

TEST(depth, a_hundred_thousand_nested_awaits_that_are_stopped) {
  on_stack(usual_stack, nest_that_is_stopped);
  on_stack(small_stack, nest_that_is_stopped);
}

}  // namespace
