// tests/time/virtual_time_test.cpp: time passes when nothing else is left to do, and exactly.
#include "skua/time/virtual_time.hpp"

#include "skua/base/random.hpp"
#include "skua/runtime/hooks.hpp"
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::instant;
using skua::sleep;
using skua::spawn;
using skua::task;
using skua::timeout;
using skua::testing::advance;
using skua::testing::virtual_time;
using skua_test::shared_gate;
using std::chrono::steady_clock;

bool timed_out(const auto& what) {
  return !what.has_value() && what.error() == std::errc::timed_out;
}

TEST(advance_death, where_time_is_real_says_so) {
  auto body = []() -> task<> { co_await advance(1s); };
  EXPECT_DEATH(skua_test::started(skua_test::alone.settings()).block_on(body()),
               "config::virtual_time");
  EXPECT_DEATH(skua::sync_wait(body()), "config::virtual_time");
}

TEST(virtual_time, lets_a_day_pass_in_no_time) {
  const auto begun = steady_clock::now();
  virtual_time([]() -> task<> {
    const instant before = skua::now();
    co_await sleep(24h);
    EXPECT_EQ(skua::now() - before, 24h);
  });
  EXPECT_LT(steady_clock::now() - begun, 20s) << "a day would take 4,000 times as long";
}

TEST(virtual_time, gives_what_the_root_gives) {
  EXPECT_EQ(virtual_time([]() -> task<int> { co_return 3; }), 3);
  auto fails = []() -> task<> {
    co_await sleep(1h);
    throw std::runtime_error("no");
  };
  EXPECT_THROW(virtual_time(fails()), std::runtime_error);
}

TEST(virtual_time, begins_with_the_real_one) {
  const instant before = skua::now();
  const instant begin = virtual_time([]() -> task<instant> { co_return skua::now(); });
  EXPECT_GE(begin, before);
  EXPECT_LE(begin, skua::now());
}

TEST(virtual_time, stands_still_while_somebody_has_something_to_do) {
  virtual_time([]() -> task<> {
    const instant before = skua::now();
    auto sleeper = spawn([]() -> task<> { co_await sleep(1ns); });
    for (int i = 0; i < 1'000; ++i) co_await skua::yield();
    EXPECT_EQ(skua::now(), before);
    EXPECT_FALSE(sleeper.done());
    co_await std::move(sleeper);
    EXPECT_EQ(skua::now() - before, 1ns);
  });
}

task<> sleep_and_note(std::chrono::nanoseconds length, int number, std::vector<int>& order) {
  const instant end = skua::now() + length;
  co_await sleep(length);
  EXPECT_EQ(skua::now(), end);
  order.push_back(number);
}

TEST(virtual_time, ends_sleeps_exactly_and_in_the_same_order_every_time) {
  auto body = [](std::vector<int>& order) -> task<> {
    skua::random_generator random(5);
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 1'000; ++i) {
      const auto length = std::chrono::nanoseconds(random.below(1'000) * 3'600'000'000'000);
      all.push_back(spawn(sleep_and_note(length, i, order)));
    }
    for (auto& one : all) co_await std::move(one);
  };
  std::vector<int> first;
  std::vector<int> second;
  virtual_time(body(first));
  virtual_time(body(second));
  EXPECT_EQ(first.size(), 1'000U);
  EXPECT_EQ(first, second);
}

TEST(virtual_time, makes_timeouts_exact) {
  virtual_time([]() -> task<> {
    instant before = skua::now();
    EXPECT_TRUE(timed_out(co_await timeout(30s, sleep(30s + 1ns))));
    EXPECT_EQ(skua::now() - before, 30s);
    before = skua::now();
    EXPECT_TRUE((co_await timeout(30s, sleep(30s))).has_value()) << "at the last moment";
    EXPECT_EQ(skua::now() - before, 30s);
    before = skua::now();
    EXPECT_TRUE(timed_out(co_await timeout(1h, timeout(1min, sleep(24h)))));
    EXPECT_EQ(skua::now() - before, 1min);
  });
}

TEST(virtual_time, makes_intervals_exact) {
  virtual_time([]() -> task<> {
    const instant before = skua::now();
    skua::interval tick(1h);
    for (int i = 0; i < 1'000; ++i) {
      const instant due = co_await tick.next();
      EXPECT_EQ(due - before, 1h * i);
      EXPECT_EQ(skua::now(), due);
    }
    co_await sleep(150min);
    EXPECT_EQ(co_await tick.next(), before + 1'000h);
    EXPECT_EQ(co_await tick.next(), before + 1'001h);
    EXPECT_EQ(skua::now(), before + 999h + 150min) << "those were missed";
    EXPECT_EQ(co_await tick.next(), before + 1'002h);
    EXPECT_EQ(skua::now(), before + 1'002h);
  });
}

TEST(virtual_time, may_be_left_behind_by_stopped_sleepers) {
  virtual_time([]() -> task<> {
    const instant before = skua::now();
    auto sleeper = spawn([]() -> task<> { co_await sleep(1h); });
    co_await sleep(10min);
    sleeper.abort();
    EXPECT_TRUE((co_await sleeper.outcome()).stopped());
    EXPECT_EQ(skua::now() - before, 10min);
    co_await sleep(70min);
    EXPECT_EQ(skua::now() - before, 80min);
  });
}

/// Says when the worker sleeps because time stands still.
class parks_noted final : public skua::hooks {
public:
  void worker_parks(std::size_t) override { parked.set(); }
  skua_test::event parked;
};

class virtual_time_with_others : public testing::Test {
protected:
  void run(task<> root) {
    skua::config settings;
    settings.flavour = skua::flavour::current_thread;
    settings.virtual_time = true;
    settings.hooks = &hooks_;
    auto rt = skua_test::started(settings);
    rt.block_on(std::move(root));
  }
  parks_noted hooks_;
};

task<> sleep_an_hour(bool& over) {
  co_await sleep(1h);
  over = true;
}

TEST_F(virtual_time_with_others, stands_still_while_an_operation_is_under_way) {
  skua_test::pipe_pair pipe;
  std::thread writes([&] {
    hooks_.parked.wait();
    EXPECT_EQ(::write(pipe.in(), "x", 1), 1);
  });
  run([](int fd) -> task<> {
    const instant before = skua::now();
    bool over = false;
    auto sleeper = spawn(sleep_an_hour(over));
    skua_test::room<1> into;
    const auto got = co_await skua::io::read(fd, into.span());
    EXPECT_EQ(got, 1U);
    EXPECT_EQ(skua::now(), before);
    EXPECT_FALSE(over);
    co_await std::move(sleeper);
    EXPECT_EQ(skua::now() - before, 1h);
  }(pipe.out()));
  writes.join();
}

TEST_F(virtual_time_with_others, stands_still_during_a_blocking_call) {
  run([](skua_test::event& parked) -> task<> {
    const instant before = skua::now();
    bool over = false;
    auto sleeper = spawn(sleep_an_hour(over));
    auto* const wait_for = &parked;
    for (int i = 1; i <= 20; ++i) {
      auto blocks = [wait_for] { wait_for->wait(); };
      co_await skua::spawn_blocking(blocks);
      EXPECT_EQ(skua::now(), before);
    }
    EXPECT_FALSE(over);
    co_await std::move(sleeper);
    EXPECT_EQ(skua::now() - before, 1h);
  }(hooks_.parked));
}

// The thread of the pool is still at it when the task goes on.
TEST(virtual_time, passes_again_when_the_last_call_has_ended) {
  virtual_time([]() -> task<> {
    const instant before = skua::now();
    for (int i = 1; i <= 1'000; ++i) {
      co_await skua::spawn_blocking([] {});
      co_await sleep(1h);
      EXPECT_EQ(skua::now() - before, 1h * i);
    }
  });
}

TEST(virtual_time, does_not_pass_between_operations_that_follow_each_other) {
  virtual_time([]() -> task<> {
    const instant before = skua::now();
    bool over = false;
    auto sleeper = spawn(sleep_an_hour(over));
    skua_test::socket_pair sockets;
    skua_test::room<1> into;
    for (int i = 0; i < 100; ++i) {
      const auto sent = co_await skua::io::write(sockets.first(), skua_test::bytes_of("x"));
      EXPECT_EQ(sent, 1U);
      const auto got = co_await skua::io::read(sockets.second(), into.span());
      EXPECT_EQ(got, 1U);
      EXPECT_EQ(skua::now(), before);
    }
    sleeper.abort();
    co_await sleeper.wait();
  });
}

TEST(advance, moves_time_for_an_operation_that_is_under_way) {
  virtual_time([]() -> task<> {
    auto reads = [](int fd) -> task<skua::result<std::size_t>> {
      skua_test::room<1> into;
      co_return co_await timeout(30s, skua::io::read(fd, into.span()));
    };
    skua_test::pipe_pair pipe;
    auto reader = spawn(reads(pipe.out()));
    co_await skua::yield();
    co_await advance(30s - 1ns);
    for (int i = 0; i < 200; ++i) co_await skua::yield();
    EXPECT_FALSE(reader.done());
    co_await advance(1ns);
    const auto got = co_await std::move(reader);
    EXPECT_TRUE(timed_out(got));
  });
}

TEST(advance, stops_at_each_timer_on_its_way) {
  virtual_time([]() -> task<> {
    auto ticks = [](std::vector<std::int64_t>& seen) -> task<> {
      const instant before = skua::now();
      for (int i = 0; i < 5; ++i) {
        co_await sleep(1min);
        seen.push_back((skua::now() - before).to<std::chrono::seconds>().count());
      }
    };
    const instant before = skua::now();
    std::vector<std::int64_t> seen;
    auto ticker = spawn(ticks(seen));
    co_await skua::yield();
    co_await advance(3min + 30s);
    EXPECT_EQ(skua::now() - before, 3min + 30s);
    EXPECT_EQ(seen, (std::vector<std::int64_t>{60, 120, 180}));
    co_await advance(0s);
    co_await advance(-1h);
    EXPECT_EQ(skua::now() - before, 3min + 30s);
    co_await std::move(ticker);
    EXPECT_EQ(skua::now() - before, 5min);
  });
}

// What is lost here would hang, and what is counted twice would let time pass too early.
TEST(virtual_time, stands_still_for_operations_however_they_end) {
  virtual_time([]() -> task<> {
    auto reads = [](int fd) -> task<> {
      skua_test::room<1> into;
      static_cast<void>(co_await skua::io::read(fd, into.span()));
    };
    for (int i = 0; i < 50; ++i) {
      skua_test::pipe_pair pipe;
      auto reader = spawn(reads(pipe.out()));
      for (int k = 0; k < i % 5; ++k) co_await skua::yield();
      reader.abort();
      static_cast<void>(co_await reader.outcome());
      const auto bad = co_await skua::io::fsync(-1);
      EXPECT_FALSE(bad.has_value());
      const auto late = co_await timeout(0s, skua::io::fsync(pipe.in()));
      EXPECT_FALSE(late.has_value());
      const instant before = skua::now();
      co_await sleep(1h);
      EXPECT_EQ(skua::now() - before, 1h);
    }
  });
}

TEST(virtual_time, ends_with_a_runtime_that_is_shut_down) {
  skua::config settings;
  settings.flavour = skua::flavour::current_thread;
  settings.virtual_time = true;
  auto rt = skua_test::started(settings);
  bool over = false;
  auto sleeper = rt.spawn(sleep_an_hour(over));
  EXPECT_TRUE(rt.shutdown(1s).complete());
  EXPECT_TRUE(sleeper.done());
  EXPECT_FALSE(over);
}

}  // namespace
