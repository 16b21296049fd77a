// tests/runtime/yield_test.cpp: giving way on a runtime: in turn, and stoppable.
#include "skua/coro/yield.hpp"

#include "skua/skua.hpp"
#include "support/shared_gate.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

using skua::spawn;
using skua::task;
using skua_test::kind;
using skua_test::shared_gate;
using skua_test::started;

class yields : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(every, yields, skua_test::every_kind(), skua_test::name_of_kind);

class yields_of_one : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(one, yields_of_one, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

task<> writes(std::string& log, char letter, int times) {
  for (int i = 0; i < times; ++i) {
    log += letter;
    co_await skua::yield();
  }
}

TEST_P(yields_of_one, take_turns) {
  auto rt = started(GetParam().settings());
  std::string log;
  auto body = [](std::string& to) -> task<> {
    auto first = spawn(writes(to, 'a', 5));
    auto second = spawn(writes(to, 'b', 5));
    co_await std::move(first);
    co_await std::move(second);
  };
  rt.block_on(body(log));
  EXPECT_TRUE(log == "ababababab" || log == "bababababa") << log;
}

TEST_P(yields_of_one, let_everything_that_is_ready_go_first) {
  skua::config with = GetParam().settings();
  with.event_interval = 1'000;  // with order::lifo it has a turn so often, whatever is ready
  auto rt = started(with);
  auto body = []() -> task<> {
    int ran = 0;
    auto counts = [](int& count) -> task<> {
      ++count;
      co_return;
    };
    for (int i = 0; i < 100; ++i) spawn(counts(ran));
    co_await skua::yield();
    EXPECT_EQ(ran, 100);
  };
  rt.block_on(body());
}

TEST_P(yields_of_one, take_turns_at_home_too) {
  auto rt = started(GetParam().settings());
  std::string log;
  auto body = [](std::string& to) -> task<> {
    auto first = skua::spawn_local(writes(to, 'a', 5));
    auto second = skua::spawn_local(writes(to, 'b', 5));
    co_await std::move(first);
    co_await std::move(second);
  };
  rt.block_on(body(log));
  EXPECT_EQ(log, "ababababab");
}

task<> yields_for_ever(std::atomic<int>& begun) {
  ++begun;
  for (;;) co_await skua::yield();
}
task<> consumes_for_ever(std::atomic<int>& begun) {
  ++begun;
  for (;;) co_await skua::consume_budget();
}

TEST_P(yields, are_where_a_task_is_stopped) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    std::atomic<int> begun = 0;
    auto first = spawn(yields_for_ever(begun));
    auto second = spawn(consumes_for_ever(begun));
    auto third = skua::spawn_local(consumes_for_ever(begun));
    auto fourth = skua::spawn_local(yields_for_ever(begun));
    while (begun < 4) co_await skua::yield();
    first.abort();
    second.abort();
    std::thread([&] {
      third.abort();
      fourth.abort();
    }).join();
    EXPECT_TRUE((co_await first.outcome()).stopped());
    EXPECT_TRUE((co_await second.outcome()).stopped());
    EXPECT_TRUE((co_await third.outcome()).stopped());
    EXPECT_TRUE((co_await fourth.outcome()).stopped());
  };
  rt.block_on(body());
}

TEST_P(yields, end_at_shutdown) {
  std::atomic<int> begun = 0;
  auto rt = started(GetParam().settings());
  auto body = [](std::atomic<int>& count) -> task<> {
    for (int i = 0; i < 10; ++i) {
      skua::spawn_background(yields_for_ever(count)).detach();
      skua::spawn_background(consumes_for_ever(count)).detach();
    }
    while (count < 20) co_await skua::yield();
  };
  rt.block_on(body(begun));
  EXPECT_EQ(rt.metrics().live, 20U);
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_EQ(rt.metrics().live, 0U);
}

TEST_P(yields, behind_a_shield_go_on_and_in_as_outcome_end_there) {
  auto rt = started(GetParam().settings());
  std::string log;
  auto child = [](std::string& to, shared_gate& door) -> task<> {
    co_await skua::shielded(shared_gate::wait(door));  // asked to stop meanwhile
    co_await skua::shielded(writes(to, 'a', 3));
    const auto how = co_await skua::as_outcome(writes(to, 'b', 3));
    EXPECT_TRUE(how.stopped());
    to += 'c';
    co_await skua::yield();
    to += "not reached";
  };
  auto body = [](decltype(child)& make, std::string& to) -> task<> {
    shared_gate door;
    auto handle = spawn(make(to, door));
    while (door.waiters() == 0) co_await skua::yield();
    handle.abort();
    door.open();
    EXPECT_TRUE((co_await handle.outcome()).stopped());
  };
  rt.block_on(body(child, log));
  EXPECT_EQ(log, "aaabc");
}

TEST_P(yields, are_cheap_on_the_stack) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    for (int i = 0; i < 100'000; ++i) co_await skua::yield();
    for (int i = 0; i < 1'000'000; ++i) co_await skua::consume_budget();
  };
  rt.block_on(body());
}

}  // namespace
