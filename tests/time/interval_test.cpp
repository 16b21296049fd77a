// tests/time/interval_test.cpp: ticks come a period apart, and none gets lost.
#include "skua/time/interval.hpp"

#include "skua/base/clock.hpp"
#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::instant;
using skua::interval;
using skua::interval_at;
using skua::missed_ticks;
using skua::spawn;
using skua::task;

class intervals : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, intervals, skua_test::every_kind(), skua_test::name_of_kind);

instant at(std::chrono::nanoseconds since) {
  return instant::of_nanoseconds(since.count());
}

/// Ticks that are due already: the clock stands still unless the test moves it.
class hand_moved {
public:
  hand_moved() {
    settings_.flavour = skua::flavour::current_thread;
    settings_.workers = 1;
    settings_.clock = &clock_;
  }
  void run(task<> (*body)(skua::manual_clock&)) {
    auto rt = skua_test::started(settings_);
    rt.block_on(body(clock_));
  }

private:
  skua::manual_clock clock_;
  skua::config settings_;
};

void pass(skua::manual_clock& clock, std::chrono::nanoseconds length) {
  clock.advance(length.count());
}

TEST_P(intervals, tick_at_once_and_then_a_period_apart) {
  auto rt = start();
  auto body = []() -> task<> {
    const instant before = skua::now();
    interval tick(2ms);
    EXPECT_EQ(tick.period(), 2ms);
    const instant first = co_await tick.next();
    EXPECT_GE(first, before);
    for (int i = 1; i <= 5; ++i) {
      const instant due = co_await tick.next();
      EXPECT_EQ(due, first + 2ms * i);
      EXPECT_GE(skua::now(), due) << "never early";
    }
  };
  rt.block_on(body());
}

TEST_P(intervals, may_begin_at_a_moment) {
  auto rt = start();
  auto body = []() -> task<> {
    const instant first = skua::now() + 3ms;
    auto tick = interval_at(first, 2ms);
    const instant one = co_await tick.next();
    EXPECT_EQ(one, first);
    EXPECT_GE(skua::now(), first);
    const instant two = co_await tick.next();
    EXPECT_EQ(two, first + 2ms);
  };
  rt.block_on(body());
}

TEST(missed_ticks, come_in_a_burst) {
  hand_moved().run([](skua::manual_clock& clock) -> task<> {
    interval tick(10ms);
    EXPECT_EQ(co_await tick.next(), at(0ms));
    pass(clock, 35ms);
    EXPECT_EQ(co_await tick.next(), at(10ms));
    EXPECT_EQ(co_await tick.next(), at(20ms));
    EXPECT_EQ(co_await tick.next(), at(30ms));
    pass(clock, 5ms);
    EXPECT_EQ(co_await tick.next(), at(40ms));
  });
}

TEST(missed_ticks, shift_the_rhythm) {
  hand_moved().run([](skua::manual_clock& clock) -> task<> {
    interval tick(10ms, missed_ticks::delay);
    EXPECT_EQ(co_await tick.next(), at(0ms));
    pass(clock, 35ms);
    EXPECT_EQ(co_await tick.next(), at(10ms));
    pass(clock, 10ms);
    EXPECT_EQ(co_await tick.next(), at(45ms));
    pass(clock, 19ms);  // late, but none is missed
    EXPECT_EQ(co_await tick.next(), at(55ms));
    pass(clock, 1ms);
    EXPECT_EQ(co_await tick.next(), at(65ms));
  });
}

TEST(missed_ticks, are_skipped) {
  hand_moved().run([](skua::manual_clock& clock) -> task<> {
    interval tick(10ms, missed_ticks::skip);
    EXPECT_EQ(co_await tick.next(), at(0ms));
    pass(clock, 35ms);
    EXPECT_EQ(co_await tick.next(), at(10ms));
    pass(clock, 5ms);
    EXPECT_EQ(co_await tick.next(), at(40ms));
    pass(clock, 20ms);  // exactly with the next but one, which counts as missed
    EXPECT_EQ(co_await tick.next(), at(50ms));
    pass(clock, 10ms);
    EXPECT_EQ(co_await tick.next(), at(70ms));
  });
}

TEST(interval, may_be_reset) {
  hand_moved().run([](skua::manual_clock& clock) -> task<> {
    interval tick(10ms);
    EXPECT_EQ(co_await tick.next(), at(0ms));
    pass(clock, 35ms);
    tick.reset();
    pass(clock, 10ms);
    EXPECT_EQ(co_await tick.next(), at(45ms));
  });
}

TEST(interval, of_years_does_not_overflow) {
  hand_moved().run([](skua::manual_clock& clock) -> task<> {
    interval tick(std::chrono::hours::max());
    EXPECT_EQ(co_await tick.next(), at(0ms));
    pass(clock, 24h);
    const auto got = co_await skua::timeout(0s, tick.next());
    EXPECT_FALSE(got.has_value());
    interval late(instant::of_nanoseconds(INT64_MIN), 10ms, missed_ticks::skip);
    static_cast<void>(co_await late.next());
    const auto next = co_await skua::timeout(0s, late.next());
    EXPECT_FALSE(next.has_value());
  });
}

// The tick is taken by whoever is resumed with it.
TEST_P(intervals, lose_no_tick_when_a_race_is_lost) {
  auto rt = start();
  auto body = []() -> task<> {
    interval tick(2ms);
    const instant first = co_await tick.next();
    for (int i = 0; i < 10; ++i) {
      const auto got = co_await skua::timeout(100us, tick.next());
      if (got) {  // on a slow machine
        EXPECT_EQ(*got, first + 2ms);
        co_return;
      }
      if (skua::now() >= first + 2ms) break;
    }
    const instant second = co_await tick.next();
    EXPECT_EQ(second, first + 2ms);
  };
  rt.block_on(body());
}

// Both are ready in the same step of a race, and the other is the first.
TEST(interval, keeps_a_tick_that_came_too_late_for_its_race) {
  hand_moved().run([](skua::manual_clock& clock) -> task<> {
    auto passes = [](skua::manual_clock& time) -> task<> {
      for (int i = 0; i < 200; ++i) co_await skua::yield();
      pass(time, 10ms);
    };
    auto wins = [](instant when) -> task<instant> {
      co_await skua::sleep_until(when);
      co_return instant();
    };
    interval tick(10ms);
    EXPECT_EQ(co_await tick.next(), at(0ms));
    auto passing = spawn(passes(clock));
    int ticks = 0;
    const auto which = co_await skua::select(wins(at(10ms)), tick.next());
    if (which.index() == 1) ++ticks;
    co_await std::move(passing);
    if (ticks == 0) {
      EXPECT_EQ(co_await tick.next(), at(10ms));
    }
    const auto more = co_await skua::timeout(0s, tick.next());
    EXPECT_FALSE(more.has_value()) << "there was one";
  });
}

task<> take_ticks(interval& tick, std::vector<instant>& into) {
  for (;;) into.push_back(co_await tick.next());
}

TEST_P(intervals, lose_no_tick_when_a_task_is_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    interval tick(1ms);
    std::vector<instant> all;
    for (int i = 0; i < 10; ++i) {
      auto taker = spawn(take_ticks(tick, all));
      co_await skua::sleep(std::chrono::microseconds(700));
      taker.abort();
      EXPECT_TRUE((co_await taker.outcome()).stopped());
    }
    all.push_back(co_await tick.next());
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i] - all[i - 1], 1ms);
  };
  rt.block_on(body());
}

TEST(interval, that_is_always_late_leaves_time_for_others) {
  hand_moved().run([](skua::manual_clock& clock) -> task<> {
    interval tick(1ns);
    pass(clock, 1h);
    bool over = false;
    auto sets = [](bool& flag) -> task<> {
      flag = true;
      co_return;
    };
    auto other = spawn(sets(over));
    int rounds = 0;
    for (; !over && rounds < 10'000; ++rounds) static_cast<void>(co_await tick.next());
    EXPECT_LT(rounds, 10'000);
    co_await std::move(other);
  });
}

TEST(interval, throws_where_there_is_no_runtime) {
  auto body = []() -> task<> {
    interval tick(24h);
    static_cast<void>(co_await tick.next());
    static_cast<void>(co_await tick.next());
  };
  EXPECT_THROW(skua::sync_wait(body()), std::logic_error);
}

TEST(interval_death, a_period_of_nothing_says_so) {
  EXPECT_DEATH(interval(0s), "longer than 0");
  EXPECT_DEATH(interval(-1s), "longer than 0");
}

TEST(interval_death, two_waits_at_once_say_so) {
  auto body = []() -> task<> {
    auto tick = interval_at(skua::now() + 24h, 1s);
    static_cast<void>(co_await skua::select(tick.next(), tick.next()));
  };
  const skua::config settings = skua_test::alone.settings();
  EXPECT_DEATH(skua_test::started(settings).block_on(body()), "one task at a time");
}

}  // namespace
