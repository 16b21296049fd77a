// tests/runtime/adapters_test.cpp: joins and blocking calls go into whatever takes an awaitable.
#include "skua/skua.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>

namespace {

using skua::spawn;
using skua::spawn_blocking;
using skua::task;
using skua_test::kind;
using skua_test::started;

class adapters : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(every, adapters, skua_test::every_kind(), skua_test::name_of_kind);

task<int> five() {
  co_return 5;
}
task<> fails() {
  throw std::runtime_error("on purpose");
  co_return;
}
int six() {
  return 6;
}
std::unique_ptr<int> increased(std::unique_ptr<int> from) {
  ++*from;
  return from;
}

TEST_P(adapters, take_a_join_handle) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto value = co_await skua::as_outcome(spawn(five()));
    EXPECT_EQ(*value, 5);
    auto named = spawn(five());
    EXPECT_EQ(co_await skua::shielded(std::move(named)), 5);
    EXPECT_EQ(co_await skua::unconstrained(spawn(five())), 5);
    EXPECT_EQ(co_await spawn(spawn(five())), 5);
    auto failed = co_await skua::as_outcome(spawn(fails()));
    EXPECT_TRUE(failed.has_exception());
    auto forever = []() -> task<> {
      for (;;) co_await skua::yield();
    };
    auto stopped = spawn(forever());
    stopped.abort();
    EXPECT_TRUE((co_await skua::as_outcome(std::move(stopped))).has_exception())
        << "task_cancelled: it was not this one that was stopped";
  };
  rt.block_on(body());
}

TEST_P(adapters, take_a_blocking_call) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto value = co_await skua::as_outcome(spawn_blocking(six));
    EXPECT_EQ(*value, 6);
    EXPECT_EQ(co_await skua::shielded(spawn_blocking(six)), 6);
    EXPECT_EQ(co_await skua::unconstrained(spawn_blocking(six)), 6);
    EXPECT_EQ(co_await spawn(spawn_blocking(six)), 6);
    auto more = co_await skua::shielded(spawn_blocking(increased, std::make_unique<int>(1)));
    EXPECT_EQ(*more, 2);
  };
  rt.block_on(body());
  EXPECT_EQ(rt.block_on(spawn_blocking(six)), 6);
}

TEST(adapters_without_runtime, wait_for_a_join_or_a_blocking_call) {
  EXPECT_EQ(skua::sync_wait(spawn_blocking(six)), 6);
  auto rt = started(skua_test::two_workers.settings());
  EXPECT_EQ(skua::sync_wait(rt.spawn(five())), 5);
  EXPECT_THROW(skua::sync_wait(rt.spawn(fails())), std::runtime_error);
}

}  // namespace
