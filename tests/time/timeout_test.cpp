// tests/time/timeout_test.cpp: what does not end in time is stopped, and what ends has ended.
#include "skua/time/timeout.hpp"

#include "skua/base/clock.hpp"
#include "skua/base/random.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/memory_limit.hpp"
#include "support/noted.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::result;
using skua::sleep;
using skua::spawn;
using skua::task;
using skua::timeout;
using skua::timeout_at;
using skua_test::shared_gate;

class timeouts : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, timeouts, skua_test::every_kind(), skua_test::name_of_kind);

task<int> give(int value) {
  co_return value;
}
task<> nothing() {
  co_return;
}
task<int> fails() {
  throw std::runtime_error("no");
  co_return 0;
}
task<int> for_ever() {
  co_await sleep(24h);
  co_return 0;
}
task<result<int>> give_result(result<int> what) {
  co_return what;
}
task<std::unique_ptr<int>> give_owner() {
  co_return std::make_unique<int>(7);
}

bool timed_out(const auto& what) {
  return !what.has_value() && what.error() == std::errc::timed_out;
}

TEST_P(timeouts, give_what_came_in_time) {
  auto rt = start();
  auto body = []() -> task<> {
    const result<int> number = co_await timeout(1h, give(3));
    EXPECT_EQ(number, 3);
    const result<void> none = co_await timeout(1h, nothing());
    EXPECT_TRUE(none.has_value());
    const result<int> same = co_await timeout(1h, give_result(4));
    EXPECT_EQ(same, 4);
    const result<int> error =
        co_await timeout(1h, give_result(skua::fail(std::errc::connection_reset)));
    EXPECT_EQ(error.error(), std::errc::connection_reset);
    const result<std::unique_ptr<int>> owner = co_await timeout(1h, give_owner());
    EXPECT_EQ(**owner, 7);
    const result<void> slept = co_await timeout(1h, sleep(1ms));
    EXPECT_TRUE(slept.has_value()) << "a leaf is awaited where it is";
    const result<int> joined = co_await timeout(1h, spawn(give(5)));
    EXPECT_EQ(joined, 5);
    const result<int> by_then = co_await timeout_at(skua::now() + 1h, give(6));
    EXPECT_EQ(by_then, 6);
  };
  rt.block_on(body());
}

TEST_P(timeouts, stop_what_takes_too_long) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto begun = skua::now();
    EXPECT_TRUE(timed_out(co_await timeout(2ms, for_ever())));
    EXPECT_GE(skua::now() - begun, 2ms);
    EXPECT_TRUE(timed_out(co_await timeout(1ms, sleep(24h))));
    EXPECT_TRUE(timed_out(co_await timeout_at(skua::now() + 1ms, for_ever())));
    EXPECT_TRUE(timed_out(co_await timeout_at(skua::now() - 1h, for_ever())));
  };
  rt.block_on(body());
}

TEST_P(timeouts, end_when_what_they_stopped_has_unwound) {
  auto rt = start();
  auto body = []() -> task<> {
    auto cleans_up = [](std::string& told) -> task<> {
      const skua_test::noted last(told, "last");
      const skua_test::noted first(told, "first, ");
      co_await sleep(24h);
    };
    std::string told;
    const auto got = co_await timeout(1ms, cleans_up(told));
    EXPECT_TRUE(timed_out(got));
    EXPECT_EQ(told, "first, last");
  };
  rt.block_on(body());
}

TEST_P(timeouts, throw_what_was_thrown) {
  auto rt = start();
  auto body = []() -> task<> { static_cast<void>(co_await timeout(1h, fails())); };
  EXPECT_THROW(rt.block_on(body()), std::runtime_error);
  auto late = []() -> task<> {
    auto fails_when_stopped = []() -> task<> {
      static_cast<void>(co_await skua::as_outcome(sleep(24h)));
      throw std::runtime_error("no");
    };
    static_cast<void>(co_await timeout(1ms, fails_when_stopped()));
  };
  EXPECT_THROW(rt.block_on(late()), std::runtime_error);
}

TEST_P(timeouts, of_no_length_give_one_chance) {
  auto rt = start();
  auto body = []() -> task<> {
    for (const auto length : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
      const auto ready = co_await timeout(length, give(3));
      EXPECT_EQ(ready, 3);
      const auto waits = co_await timeout(length, for_ever());
      EXPECT_TRUE(timed_out(waits));
    }
  };
  rt.block_on(body());
}

TEST_P(timeouts, without_end_wait_for_ever) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto slept = co_await timeout(std::chrono::hours::max(), sleep(1ms));
    EXPECT_TRUE(slept.has_value());
    const auto again = co_await timeout_at(skua::instant::never(), sleep(1ms));
    EXPECT_TRUE(again.has_value());
  };
  rt.block_on(body());
}

TEST_P(timeouts, within_timeouts_end_with_the_shorter) {
  auto rt = start();
  auto body = []() -> task<> {
    const auto inner = co_await timeout(1h, timeout(1ms, for_ever()));
    EXPECT_TRUE(timed_out(inner));
    const auto outer = co_await timeout(1ms, timeout(1h, for_ever()));
    EXPECT_TRUE(timed_out(outer));
    const auto neither = co_await timeout(1h, timeout(1h, timeout(1h, give(3))));
    EXPECT_EQ(neither, 3);
    auto goes_on = []() -> task<int> {
      const auto first = co_await timeout(1ms, for_ever());
      co_return timed_out(first) ? 4 : 5;
    };
    const auto after = co_await timeout(1h, goes_on());
    EXPECT_EQ(after, 4);
  };
  rt.block_on(body());
}

// A clock of the test's own, so that both are ready in the same moment; the timeout first.
task<> end_together(skua::manual_clock& time) {
  const skua::instant end = skua::now() + 1s;
  auto ends_then = [](skua::instant when) -> task<int> {
    co_await sleep(0s);  // the timer of the limit is the first in the wheel
    co_await skua::sleep_until(when);
    co_return 3;
  };
  auto goes_on_then = [](skua::instant when) -> task<int> {
    co_await sleep(0s);
    co_await skua::sleep_until(when);
    co_await sleep(0s);
    co_return 3;
  };
  auto passes = [](skua::manual_clock& clock) -> task<> {
    for (int i = 0; i < 200; ++i) co_await skua::yield();
    clock.advance(1'000'000'000);
  };
  auto passing = spawn(passes(time));
  const auto got = co_await timeout_at(end, ends_then(end));
  EXPECT_EQ(got, 3) << "it had ended";
  co_await std::move(passing);
  const skua::instant next = skua::now() + 1s;
  passing = spawn(passes(time));
  const auto not_yet = co_await timeout_at(next, goes_on_then(next));
  EXPECT_TRUE(timed_out(not_yet)) << "it would have waited again";
  co_await std::move(passing);
}

TEST(timeout_of_one_worker, loses_against_what_has_ended_at_the_last_moment) {
  for (const skua_test::kind& one : {skua_test::alone, skua_test::one_worker}) {
    skua::manual_clock clock(5);
    skua::config settings = one.settings();
    settings.clock = &clock;
    auto rt = skua_test::started(settings);
    rt.block_on(end_together(clock));
  }
}

TEST_P(timeouts, wait_for_what_does_not_let_go_and_take_its_value) {
  auto rt = start();
  auto body = []() -> task<> {
    shared_gate kernel;
    auto waits = [](shared_gate& at) -> task<std::uint64_t> {
      co_return co_await shared_gate::wait(at, false);
    };
    auto opens = [](shared_gate& at) -> task<> {
      co_await sleep(3ms);
      while (!at.open_one(9)) co_await skua::yield();
    };
    auto opener = spawn(opens(kernel));
    const auto got = co_await timeout(1ms, waits(kernel));
    EXPECT_EQ(got, 9U) << "it succeeded after all";
    co_await std::move(opener);
  };
  rt.block_on(body());
}

TEST_P(timeouts, let_a_stop_of_the_task_through) {
  auto rt = start();
  auto body = []() -> task<> {
    auto limited = [](shared_gate& at, std::string& told) -> task<> {
      const skua_test::noted end(told, "unwound");
      auto waits = [](shared_gate& where, std::string& into) -> task<> {
        const skua_test::noted first(into, "inner, ");
        co_await shared_gate::wait(where);
      };
      static_cast<void>(co_await timeout(24h, waits(at, told)));
      ADD_FAILURE() << "went on";
    };
    for (const bool begun : {false, true}) {
      shared_gate at;
      std::string told;
      auto handle = skua::spawn_local(limited(at, told));
      while (begun && at.waiters() == 0) co_await skua::yield();
      handle.abort();
      EXPECT_TRUE((co_await handle.outcome()).stopped());
      EXPECT_EQ(told, begun ? "inner, unwound" : "");
      EXPECT_EQ(at.waiters(), 0U);
    }
  };
  rt.block_on(body());
}

TEST_P(timeouts, of_a_task_that_was_stopped_give_its_value_all_the_same) {
  auto rt = start();
  auto body = []() -> task<> {
    auto limited = [](shared_gate& kernel, int& got) -> task<> {
      auto waits = [](shared_gate& at) -> task<int> {
        co_return static_cast<int>(co_await shared_gate::wait(at, false));
      };
      got = (co_await timeout(24h, waits(kernel))).value_or(-1);
      co_await skua::yield();
      ADD_FAILURE() << "went on";
    };
    shared_gate kernel;
    int got = 0;
    auto handle = skua::spawn_local(limited(kernel, got));
    while (kernel.waiters() == 0) co_await skua::yield();
    handle.abort();
    for (int i = 0; i < 3; ++i) co_await skua::yield();
    EXPECT_FALSE(handle.done()) << "it waits for the value";
    kernel.open_one(8);
    EXPECT_TRUE((co_await handle.outcome()).stopped());
    EXPECT_EQ(got, 8);
  };
  rt.block_on(body());
}

TEST(timeout_of_one_worker, in_a_loop_leaves_time_for_others) {
  auto body = []() -> task<> {
    bool over = false;
    auto sets = [](bool& flag) -> task<> {
      flag = true;
      co_return;
    };
    auto other = spawn(sets(over));
    int rounds = 0;
    for (; !over && rounds < 10'000; ++rounds) {
      const auto got = co_await timeout(1h, nothing());
      EXPECT_TRUE(got.has_value());
    }
    EXPECT_LT(rounds, 10'000);
    co_await std::move(other);
  };
  for (const skua_test::kind& one : {skua_test::alone, skua_test::one_worker}) {
    auto rt = skua_test::started(one.settings());
    rt.block_on(body());
  }
}

TEST_P(timeouts, of_operations_may_be_moments) {
  auto rt = start();
  auto body = []() -> task<> {
    skua_test::pipe_pair pipe;
    std::byte byte{};
    const std::span into(&byte, 1);
    const auto end = skua::now() + 2ms;
    const auto silent = co_await timeout_at(end, skua::io::read(pipe.out(), into));
    EXPECT_TRUE(timed_out(silent));
    EXPECT_GE(skua::now(), end);
    const auto past = co_await timeout_at(end, skua::io::read(pipe.out(), into));
    EXPECT_TRUE(timed_out(past));
  };
  rt.block_on(body());
}

TEST_P(timeouts, allocate_nothing_but_frames) {
  auto rt = start();
  bool allocated = true;
  auto body = [](bool& any) -> task<> {
    for (int i = 0; i < 100; ++i) static_cast<void>(co_await timeout(1h, nothing()));
    const skua_test::memory_limit none(1);
    for (int i = 0; i < 100; ++i) static_cast<void>(co_await timeout(1h, nothing()));
    any = none.reached();
  };
  rt.block_on(body(allocated));
  EXPECT_FALSE(allocated);
}

TEST(timeout, throws_where_there_is_no_runtime) {
  shared_gate never;
  auto body = [](shared_gate& at) -> task<> {
    static_cast<void>(co_await timeout(1ms, shared_gate::wait(at)));
  };
  EXPECT_THROW(skua::sync_wait(body(never)), std::logic_error);
}

/// Waits that end at random: by their gate, by their time, or because the task is stopped.
task<std::uint64_t> limited_waits(shared_gate& at, std::uint64_t seed, std::atomic<bool>& over) {
  skua::random_generator random(seed);
  std::uint64_t passed = 0;
  while (!over) {
    const auto length = std::chrono::nanoseconds(random.below(200'000));
    const result<std::uint64_t> got = co_await timeout(length, shared_gate::wait(at));
    if (got) ++passed;
  }
  co_return passed;
}

task<> stress_timeouts(std::uint64_t seed) {
  shared_gate at;
  std::atomic<bool> over = false;
  skua::random_generator random(seed);
  std::vector<skua::join_handle<std::uint64_t>> all;
  for (int i = 0; i < 20; ++i) all.push_back(spawn(limited_waits(at, random.next(), over)));
  const skua_test::budget time(0.5);
  std::uint64_t opened = 0;
  while (time.left()) {
    for (int i = 0; i < 5; ++i) opened += at.open_one() ? 1 : 0;
    if (random.below(4) == 0) {
      auto& one = all[random.below(all.size())];
      one.abort();
      static_cast<void>(co_await one.outcome());
      one = spawn(limited_waits(at, random.next(), over));
    }
    co_await sleep(std::chrono::nanoseconds(random.below(100'000)));
  }
  over = true;
  for (auto& one : all) static_cast<void>(co_await one.outcome());
  EXPECT_EQ(at.waiters(), 0U);
  EXPECT_GT(opened, 0U);
}

TEST(timeout_stress, waits_end_one_way_or_another) {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (const std::size_t workers : {2U, 8U}) {
    skua::config settings;
    settings.workers = workers;
    auto rt = skua_test::started(settings);
    rt.block_on(stress_timeouts(seed));
  }
}

}  // namespace
