// tests/time/sleep_test.cpp: never early, in order, stopped at once, and without a needless wake.
#include "skua/time/sleep.hpp"

#include "skua/base/clock.hpp"
#include "skua/base/random.hpp"
#include "skua/base/sanitizer.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "support/sleepers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::sleep;
using skua::spawn;
using skua::task;
using nanoseconds = std::chrono::nanoseconds;

nanoseconds now() {
  return nanoseconds(skua::monotonic_clock().now());
}

/// How long a machine with other things to do may take over what should be done at once.
constexpr auto patience = skua::built_with_tsan || skua::built_with_asan ? 20s : 5s;

class sleeps : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, sleeps, skua_test::every_kind(), skua_test::name_of_kind);

task<nanoseconds> measured(nanoseconds length) {
  const nanoseconds before = now();
  co_await sleep(length);
  co_return now() - before;
}

TEST_P(sleeps, never_end_early) {
  auto rt = start();
  auto body = []() -> task<> {
    for (const nanoseconds length :
         {nanoseconds(1), nanoseconds(999), nanoseconds(10us), nanoseconds(300us), nanoseconds(1ms),
          nanoseconds(1'048'576), nanoseconds(1'048'577), nanoseconds(3ms), nanoseconds(20ms)})
      EXPECT_GE((co_await measured(length)).count(), length.count());
  };
  rt.block_on(body());
}

// With a wheel that turned to the new deadline when it was empty, it would fire at once.
TEST_P(sleeps, on_an_empty_wheel_take_their_time) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 3; ++i) {
      EXPECT_GE((co_await measured(10ms)).count(), nanoseconds(10ms).count());
    }
  };
  for (int i = 0; i < 2; ++i) {
    rt.block_on(body());
    std::this_thread::sleep_for(3ms);  // the wheel stands still meanwhile
  }
}

// They fire when the kernel's timer does, not with the next tick of the wheel.
TEST_P(sleeps, may_be_shorter_than_a_millisecond) {
  if (skua::built_with_tsan || skua::built_with_asan) GTEST_SKIP() << "too slow to measure";
  auto rt = start();
  auto body = []() -> task<bool> {
    nanoseconds least = 1h;
    nanoseconds bare = 1h;  // of a thread that only sleeps
    for (int i = 0; i < 100; ++i) {
      least = std::min(least, co_await measured(100us));
      const nanoseconds before = now();
      std::this_thread::sleep_for(100us);
      bare = std::min(bare, now() - before);
    }
    EXPECT_GE(least, 100us);
    if (least >= 900us && bare >= 500us) co_return false;  // no thread is woken so soon
    EXPECT_LT(least, 900us) << least.count() << " ns at best, a thread " << bare.count() << " ns";
    co_return true;
  };
  if (!rt.block_on(body())) GTEST_SKIP() << "the machine is too busy to measure anything";
}

TEST_P(sleeps, of_no_length_give_way_once) {
  auto rt = start();
  auto body = []() -> task<> {
    for (const nanoseconds length :
         {nanoseconds(0), nanoseconds(-1), nanoseconds(-1h), nanoseconds::min()}) {
      std::atomic<bool> other_ran = false;
      auto other = [](std::atomic<bool>& ran) -> task<> {
        ran = true;
        co_return;
      };
      auto handle = spawn(other(other_ran));
      co_await sleep(length);
      co_await std::move(handle);
      EXPECT_TRUE(other_ran);
    }
  };
  rt.block_on(body());
}

TEST_P(sleeps, until_a_moment_end_then_and_not_earlier) {
  auto rt = start();
  auto body = []() -> task<> {
    for (const nanoseconds length : {1ns, 300'000ns, 1'048'577ns, 10'000'000ns}) {
      const skua::instant end = skua::now() + length;
      co_await skua::sleep_until(end);
      EXPECT_GE(skua::now(), end);
    }
    const auto end = std::chrono::steady_clock::now() + 2ms;
    co_await skua::sleep_until(end);
    EXPECT_GE(std::chrono::steady_clock::now(), end);
  };
  rt.block_on(body());
}

TEST_P(sleeps, until_the_past_give_way_once) {
  auto rt = start();
  auto body = []() -> task<> {
    const skua::instant here = skua::now();
    for (const skua::instant end : {here, here - 1ns, here - 1h, here - nanoseconds::max()}) {
      std::atomic<bool> other_ran = false;
      auto other = [](std::atomic<bool>& ran) -> task<> {
        ran = true;
        co_return;
      };
      auto handle = spawn(other(other_ran));
      co_await skua::sleep_until(end);
      co_await std::move(handle);
      EXPECT_TRUE(other_ran);
    }
  };
  rt.block_on(body());
}

/// Notes its number when it has slept.
/// Notes when it was to end: whoever begins late, since the thread had no processor, ends late.
task<> note_after(nanoseconds length, std::vector<skua::instant>& order) {
  const skua::instant end = skua::now() + length;
  co_await skua::sleep_until(end);
  order.push_back(end);
}

TEST(sleeps_of_one_worker, end_in_the_order_of_their_deadlines) {
  for (const skua_test::kind& one : {skua_test::alone, skua_test::one_worker}) {
    skua_test::log_recorder log;
    auto rt = skua_test::started(one, log);
    std::vector<skua::instant> order;
    auto body = [](std::vector<skua::instant>& into) -> task<> {
      std::vector<skua::join_handle<void>> all;
      for (const int length : {30, 5, 20, 10, 25, 15, 1})
        all.push_back(spawn(note_after(std::chrono::milliseconds(length), into)));
      for (auto& each : all) co_await std::move(each);
    };
    rt.block_on(body(order));
    EXPECT_EQ(order.size(), 7U);
    EXPECT_TRUE(std::ranges::is_sorted(order)) << one;
  }
}

/// Sleeps for longer than anybody lives.
task<> sleep_for_ever(skua_test::event& begun) {
  begun.set();
  co_await sleep(nanoseconds::max());
  ADD_FAILURE() << "woke up";
}

TEST_P(sleeps, without_end_are_stopped_at_once) {
  auto rt = start();
  auto body = []() -> task<> {
    for (const auto turns : {0, 1, 5}) {
      skua_test::event begun;
      auto sleeper = spawn(sleep_for_ever(begun));
      for (int i = 0; i < turns; ++i) co_await skua::yield();
      co_await sleep(1ms);
      const nanoseconds before = now();
      EXPECT_TRUE(sleeper.abort());
      const auto end = co_await sleeper.outcome();
      EXPECT_TRUE(end.stopped());
      EXPECT_LT(now() - before, patience);
    }
  };
  rt.block_on(body());
}

TEST_P(sleeps, of_days_and_years_do_not_overflow) {
  auto rt = start();
  auto body = []() -> task<> {
    auto sleeps_long = [](nanoseconds length) -> task<> { co_await sleep(length); };
    std::vector<skua::join_handle<void>> all;
    for (const nanoseconds length : {nanoseconds(24h), nanoseconds(24h * 365 * 200),
                                     nanoseconds::max() - 1s, nanoseconds::max()})
      all.push_back(spawn(sleeps_long(length)));
    auto sleeps_longer = []() -> task<> { co_await sleep(std::chrono::hours::max()); };
    all.push_back(spawn(sleeps_longer()));
    auto sleeps_until = [](skua::instant end) -> task<> { co_await skua::sleep_until(end); };
    all.push_back(spawn(sleeps_until(skua::now() + std::chrono::hours::max())));
    all.push_back(spawn(sleeps_until(skua::now() + 24h)));
    co_await sleep(5ms);
    for (auto& one : all) {
      EXPECT_FALSE(one.done());
      one.abort();
      const auto end = co_await one.outcome();
      EXPECT_TRUE(end.stopped());
    }
  };
  rt.block_on(body());
}

TEST_P(sleeps, are_stopped_by_a_thread_outside) {
  auto rt = start();
  for (int i = 0; i < 20; ++i) {
    skua_test::event begun;
    auto sleeper = rt.spawn(sleep_for_ever(begun));
    auto joins = [](skua::join_handle<void>& whom) -> task<> { co_await whom.wait(); };
    std::thread other([&] {
      begun.wait();
      if (i % 2 == 0) std::this_thread::sleep_for(200us);  // it may sleep by now, or not
      sleeper.abort();
    });
    rt.block_on(joins(sleeper));
    other.join();
    EXPECT_TRUE(sleeper.done());
  }
}

TEST_P(sleeps, by_the_thousand_all_end_and_none_early) {
  auto rt = start();
  std::atomic<int> ended = 0;
  std::atomic<int> early = 0;
  auto body = [](std::atomic<int>& over, std::atomic<int>& too_soon) -> task<> {
    auto one = [](nanoseconds length, std::atomic<int>& end, std::atomic<int>& soon) -> task<> {
      const nanoseconds took = co_await measured(length);
      if (took < length) ++soon;
      ++end;
    };
    skua::random_generator random(20'261'116);
    for (int i = 0; i < 10'000; ++i) {
      const auto length = nanoseconds(static_cast<std::int64_t>(random.below(200'000'000)));
      spawn(one(length, over, too_soon)).detach();
    }
    co_return;
  };
  const nanoseconds before = now();
  rt.block_on(body(ended, early));  // and all beneath it
  EXPECT_EQ(ended, 10'000);
  EXPECT_EQ(early, 0);
  EXPECT_LT(now() - before, 200ms + patience);
}

TEST_P(sleeps, may_be_stopped_by_the_thousand) {
  auto rt = start();
  auto body = []() -> task<> {
    auto one = [](nanoseconds length) -> task<> { co_await sleep(length); };
    skua::random_generator random(7);
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 2'000; ++i)
      all.push_back(spawn(one(nanoseconds(static_cast<std::int64_t>(random.below(5'000'000))))));
    for (auto& each : all) {
      each.abort();
      const auto end = co_await each.outcome();
      EXPECT_FALSE(end.has_exception());
    }
  };
  rt.block_on(body());
}

TEST_P(sleeps, need_no_backend) {
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.backend = skua::backend::none;
  auto rt = skua_test::started(settings);
  EXPECT_EQ(rt.driver_info().used, skua::backend::none);
  auto body = []() -> task<> {
    EXPECT_GE(co_await measured(3ms), 3ms);
    skua_test::event begun;
    auto sleeper = spawn(sleep_for_ever(begun));
    co_await sleep(100us);
    sleeper.abort();
    const auto end = co_await sleeper.outcome();
    EXPECT_TRUE(end.stopped());
  };
  rt.block_on(body());
}

/// Makes an hour pass for whoever sleeps on the same worker, which it keeps from sleeping itself.
task<> let_time_pass(skua::manual_clock& time) {
  std::atomic<bool> over = false;
  auto sleeps_an_hour = [](std::atomic<bool>& end) -> task<> {
    co_await sleep(1h);
    end = true;
  };
  auto sleeper = spawn(sleeps_an_hour(over));
  for (int i = 0; i < 200; ++i) co_await skua::yield();
  EXPECT_FALSE(over) << "by this clock no time has passed";
  for (int i = 0; i < 1'000 && !over; ++i) {
    time.advance(nanoseconds(10min).count());
    for (int k = 0; k < 100 && !over; ++k) co_await skua::yield();
  }
  EXPECT_TRUE(over) << "a week has passed";
  sleeper.abort();
  co_await sleeper.wait();
  EXPECT_GE(time.now(), nanoseconds(1h).count());
}

TEST(sleeps_of_one_worker, go_by_the_clock_of_the_runtime) {
  for (const skua_test::kind& one : {skua_test::alone, skua_test::one_worker}) {
    skua::manual_clock clock(5);
    skua::config settings = one.settings();
    settings.clock = &clock;
    auto rt = skua_test::started(settings);
    rt.block_on(let_time_pass(clock));
  }
}

TEST(sleep, throws_where_there_is_no_runtime) {
  auto body = []() -> task<> { co_await sleep(1ms); };
  EXPECT_THROW(skua::sync_wait(body()), std::logic_error);
}

std::uint64_t parks_of(const skua::runtime& of) {
  std::uint64_t all = 0;
  for (const skua::worker_metrics& one : of.metrics().workers) all += one.parks;
  return all;
}

// Nor for a sleep that has ended, nor for one that was stopped.
TEST_P(sleeps, that_are_over_wake_nobody) {
  if (!multi()) GTEST_SKIP() << "nobody drives it while it is idle";
  skua_test::sleepers counts;
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.hooks = &counts;
  auto rt = skua_test::started(settings);
  auto body = []() -> task<> {
    co_await sleep(2ms);
    skua_test::event begun;
    auto stopped = spawn(sleep_for_ever(begun));
    co_await sleep(1ms);
    stopped.abort();
    co_await stopped.wait();
  };
  rt.block_on(body());
  // Until all sleep, and none has stirred for a while, in which it may have had no processor.
  const int all = static_cast<int>(GetParam().workers);
  std::uint64_t before = parks_of(rt);
  int quiet = 0;
  for (int i = 0; i < 1'000 && quiet < 6; ++i) {
    std::this_thread::sleep_for(50ms);
    const std::uint64_t seen = std::exchange(before, parks_of(rt));
    quiet = seen == before && counts.asleep == all ? quiet + 1 : 0;
  }
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(parks_of(rt), before);
}

// A worker that always has something to run looks at its timers nevertheless.
TEST_P(sleeps, end_in_time_on_a_worker_that_is_never_idle) {
  auto rt = start();
  std::atomic<bool> over = false;
  auto body = [](std::atomic<bool>& end, std::size_t workers) -> task<> {
    auto busy = [](std::atomic<bool>& stop) -> task<> {
      const nanoseconds limit = now() + patience;
      while (!stop && now() < limit) co_await skua::yield();
    };
    for (std::size_t i = 0; i < 4 * workers; ++i) spawn(busy(end)).detach();
    const nanoseconds took = co_await measured(100ms);
    end = true;
    EXPECT_GE(took, 100ms);
    EXPECT_LT(took, 100ms + patience / 5);
  };
  rt.block_on(body(over, GetParam().workers));
}

}  // namespace
