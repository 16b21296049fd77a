// tests/runtime/drain_test.cpp: a run that stops by itself when nothing is left.
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace {

using namespace std::chrono_literals;
using skua::task;
using skua_test::entry;
using skua_test::ledger;
using skua_test::shared_gate;

task<int> give(int value) {
  co_return value;
}

class drain : public skua_test::for_each_kind {};

TEST_P(drain, of_an_idle_runtime_is_over_at_once) {
  auto rt = start();
  EXPECT_TRUE(rt.drain());
  EXPECT_TRUE(rt.drain()) << "again";
  EXPECT_TRUE(rt.shutdown().complete());
}

/// Each spawns the next and ends: there is a moment in which hardly anything is alive.
TEST_P(drain, waits_for_what_live_tasks_spawn) {
  auto rt = start();
  std::atomic<int> ran = 0;
  struct chain {
    static task<> link(std::atomic<int>& count, int left) {
      ++count;
      if (left > 0) skua::spawn(link(count, left - 1)).detach();
      if (left % 16 == 0) co_await skua::sleep(100us);
    }
  };
  for (int i = 0; i < 4; ++i) rt.spawn(chain::link(ran, 200)).detach();
  EXPECT_TRUE(rt.drain());
  EXPECT_EQ(ran, 4 * 201);
  EXPECT_EQ(rt.metrics().cancelled, 0U) << "nobody was asked to stop";
}

TEST_P(drain, waits_for_timers_io_blocking_calls_and_waiters) {
  auto rt = start();
  std::atomic<int> ended = 0;
  shared_gate gate;
  const auto sleeps = [&]() -> task<> {
    co_await skua::sleep(5ms);
    ++ended;
  };
  const auto calls = [&]() -> task<> {
    co_await skua::spawn_blocking([] { std::this_thread::sleep_for(2ms); });
    ++ended;
  };
  const auto waits = [&]() -> task<> {
    co_await shared_gate::wait(gate);
    ++ended;
  };
  rt.spawn(sleeps).detach();
  rt.spawn(calls).detach();
  rt.spawn(waits).detach();
  const std::jthread opens([&] {
    gate.await_waiters();
    gate.open();
  });
  EXPECT_TRUE(rt.drain());
  EXPECT_EQ(ended, 3);
}

TEST_P(drain, refuses_what_comes_from_outside_and_counts_it) {
  auto rt = start();
  ledger frames;
  shared_gate gate;
  const auto way_in = rt.get_handle();
  const auto takes = [](entry parameter) { EXPECT_TRUE(parameter.whole()); };
  const auto waits = [&]() -> task<> {
    co_await shared_gate::wait(gate);
    co_await skua::spawn(skua::call(takes, entry(frames)));  // a child: accepted
  };
  rt.spawn(waits).detach();
  std::jthread late([&] {
    gate.await_waiters();
    while (rt.metrics().refused == 0) {  // until it has begun to drain
      auto refused = way_in.spawn(skua::call(takes, entry(frames)));
      static_cast<void>(skua::sync_wait(refused.outcome()));
    }
    gate.open();
  });
  if (!multi()) {
    EXPECT_FALSE(rt.drain(0ms)) << "what it has is begun while it is driven";
  }
  EXPECT_TRUE(rt.drain());
  late.join();
  EXPECT_EQ(rt.metrics().refused, 1U);
  EXPECT_EQ(frames.made, frames.ended);
  EXPECT_EQ(frames.alive, 0);
  EXPECT_GE(frames.made, 2);
  EXPECT_THROW(rt.block_on(give(1)), skua::task_cancelled);
}

TEST_P(drain, gives_up_in_time_and_stops_nobody) {
  auto rt = start();
  ledger frames;
  shared_gate gate;
  const auto waits = [&](entry parameter) -> task<> {
    co_await shared_gate::wait(gate);
    EXPECT_TRUE(parameter.whole());
  };
  rt.spawn(skua::call(waits, entry(frames))).detach();
  EXPECT_FALSE(rt.drain(3ms));
  EXPECT_EQ(frames.ended, 0);
  EXPECT_EQ(rt.metrics().cancelled, 0U);
  gate.open();
  EXPECT_TRUE(rt.drain());
  EXPECT_TRUE(frames.balanced(1));
}

TEST_P(drain, makes_way_for_a_shutdown) {
  auto rt = start();
  ledger frames;
  shared_gate never;
  const auto waits = [&](entry parameter) -> task<> {
    co_await shared_gate::wait(never);
    EXPECT_TRUE(parameter.whole());
  };
  rt.spawn(skua::call(waits, entry(frames))).detach();
  std::jthread shuts_down([&] {
    never.await_waiters();
    while (rt.metrics().refused == 0) rt.spawn(give(1)).detach();  // until it drains
    EXPECT_TRUE(rt.shutdown(10s).complete());
  });
  EXPECT_FALSE(rt.drain());
  shuts_down.join();
  EXPECT_TRUE(frames.balanced(1));
  EXPECT_TRUE(rt.drain()) << "over";
}

TEST_P(drain, of_a_runtime_that_another_thread_waits_for_makes_way_too) {
  auto rt = start();
  shared_gate never;
  const auto waits = [&]() -> task<> { co_await shared_gate::wait(never); };
  const std::jthread blocks([&] { EXPECT_THROW(rt.block_on(waits), skua::task_cancelled); });
  never.await_waiters();
  const std::jthread shuts_down([&] {
    while (rt.metrics().refused == 0) rt.spawn(give(1)).detach();  // until it drains
    EXPECT_TRUE(rt.shutdown().complete());
  });
  EXPECT_FALSE(rt.drain());
}

TEST_P(drain, beside_another_keeps_its_time) {
  auto rt = start();
  shared_gate gate;
  const auto waits = [&]() -> task<> { co_await shared_gate::wait(gate); };
  rt.spawn(waits).detach();
  {
    const std::jthread patient([&] { EXPECT_TRUE(rt.drain()); });
    while (rt.metrics().refused == 0) rt.spawn(give(1)).detach();  // until that one drains
    EXPECT_FALSE(rt.drain(3ms));
    gate.open();
  }
  EXPECT_TRUE(rt.drain());
}

TEST_P(drain, in_a_task_of_its_own_is_refused) {
  auto rt = start();
  const auto drains = [&]() -> task<> {
    EXPECT_THROW(rt.drain(), std::logic_error);
    co_return;
  };
  rt.block_on(drains);
  EXPECT_EQ(rt.block_on(give(3)), 3) << "and nothing has changed";
}

TEST_P(drain, and_what_is_refused_are_in_the_log_for_those_who_want_it) {
  skua::config settings = GetParam().settings();
  settings.log = log.logger(skua::log_level::debug);
  auto rt = skua_test::started(settings);
  EXPECT_TRUE(rt.drain());
  rt.spawn(skua::named("late", give(1))).detach();
  EXPECT_EQ(log.count("a runtime drains"), 1U);
  const auto refused = log.with("has refused a task");
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].fields.at("name"), "late");
  EXPECT_EQ(log.count("asks its tasks to stop"), 0U);
}

INSTANTIATE_TEST_SUITE_P(runtimes, drain, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
