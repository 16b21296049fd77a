// tests/time/stream_time_test.cpp: streams keep to their times, exactly, in virtual time.
#include "skua/time/stream_time.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace stream = skua::stream;
using skua::async_generator;
using skua::instant;
using skua::sleep;
using skua::task;
using skua::testing::virtual_time;
using ints = std::vector<int>;
using times = std::vector<long>;

/// Milliseconds.
long since(instant begun) {
  return static_cast<long>((skua::now() - begun).count() / 1'000'000);
}

async_generator<int> numbers(int count) {
  for (int i = 0; i < count; ++i) co_yield i;
}

/// A value after each of these pauses, in milliseconds.
async_generator<int> after(std::vector<int> pauses) {
  for (const int pause : pauses) {
    co_await sleep(std::chrono::milliseconds(pause));
    co_yield pause;
  }
}

TEST(every, gives_the_moments_of_an_interval) {
  virtual_time([]() -> task<> {
    const instant begun = skua::now();
    times at;
    auto note = [&](instant due) {
      EXPECT_EQ(due, skua::now());
      at.push_back(since(begun));
    };
    co_await stream::for_each(stream::every(10ms) | stream::take(4), note);
    EXPECT_EQ(at, (times{0, 10, 20, 30}));
  });
}

TEST(every, takes_the_rule_for_missed_ticks) {
  virtual_time([]() -> task<> {
    const instant begun = skua::now();
    times at;
    auto slow = [&](instant) -> task<> {
      at.push_back(since(begun));
      co_await sleep(25ms);
    };
    co_await stream::for_each(stream::every(10ms, skua::missed_ticks::skip) | stream::take(3),
                              slow);
    EXPECT_EQ(at, (times{0, 25, 50}));
  });
}

TEST(from, an_interval_keeps_the_tick_that_lost_a_race) {
  virtual_time([]() -> task<> {
    const instant begun = skua::now();
    auto tick = skua::interval(10ms);
    {
      auto ticks = stream::from(tick);
      co_await ticks.next();
      auto first = co_await skua::select(ticks.next(), sleep(3ms));
      EXPECT_TRUE(first.is<1>());
      auto over = co_await ticks.next();
      EXPECT_FALSE(over.has_value());
    }
    auto ticks = stream::from(tick);
    auto second = co_await ticks.next();
    EXPECT_EQ(since(begun), 10);
    EXPECT_EQ(*second, skua::now());
  });
}

TEST(throttle, lets_time_pass_after_each_value_and_loses_none) {
  virtual_time([]() -> task<> {
    const instant begun = skua::now();
    times at;
    ints got;
    auto note = [&](int n) {
      at.push_back(since(begun));
      got.push_back(n);
    };
    co_await stream::for_each(numbers(4) | stream::throttle(10ms), note);
    EXPECT_EQ(at, (times{0, 10, 20, 30}));
    EXPECT_EQ(got, (ints{0, 1, 2, 3}));
  });
}

TEST(throttle, asks_its_source_after_the_pause) {
  virtual_time([]() -> task<> {
    const instant begun = skua::now();
    times at;
    auto note = [&](int) { at.push_back(since(begun)); };
    std::vector<int> pauses{20, 1, 30};
    co_await stream::for_each(after(std::move(pauses)) | stream::throttle(10ms), note);
    EXPECT_EQ(at, (times{20, 31, 71})) << "a source that takes its time takes it then";
  });
}

TEST(throttle, counts_from_when_a_value_was_given_not_from_when_it_was_used_up) {
  virtual_time([]() -> task<> {
    const instant begun = skua::now();
    times at;
    auto slow = [&](int) -> task<> {
      at.push_back(since(begun));
      co_await sleep(7ms);
    };
    co_await stream::for_each(numbers(3) | stream::throttle(10ms), slow);
    EXPECT_EQ(at, (times{0, 10, 20}));
  });
}

TEST(throttle, has_nothing_at_hand_that_a_stop_could_lose) {
  virtual_time([]() -> task<> {
    auto [tx, rx] = skua::mpsc::channel<int>(4);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(tx.try_send(i));
    ints got;
    auto note = [&got](int n) { got.push_back(n); };
    auto slowly = stream::from(rx) | stream::throttle(10ms);
    auto done = co_await skua::timeout(15ms, stream::for_each(std::move(slowly), note));
    EXPECT_FALSE(done.has_value());
    EXPECT_EQ(got, (ints{0, 1}));
    EXPECT_EQ(rx.try_receive(), 2);
  });
}

TEST(throttle, a_stop_ends_its_pause_at_once) {
  virtual_time([]() -> task<> {
    const instant begun = skua::now();
    auto ignore = [](int) {};
    auto done =
        co_await skua::timeout(5ms, stream::for_each(numbers(3) | stream::throttle(24h), ignore));
    EXPECT_FALSE(done.has_value());
    EXPECT_EQ(since(begun), 5);
  });
}

TEST(timeout_stream, gives_values_that_come_in_time_and_ends_with_the_source) {
  virtual_time([]() -> task<> {
    std::vector<int> pauses{3, 9, 0};
    auto all = co_await stream::collect(after(std::move(pauses)) | stream::timeout(10ms));
    EXPECT_EQ(all.size(), 3U);
    for (const auto& one : all) EXPECT_TRUE(one.has_value());
  });
}

TEST(timeout_stream, gives_timed_out_once_and_stops_the_source) {
  virtual_time([]() -> task<> {
    const instant begun = skua::now();
    auto source = [](bool& ended) -> async_generator<int> {
      struct at_end {
        explicit at_end(bool& what) : told(what) {}
        ~at_end() { told = true; }
        bool& told;
      };
      const at_end tells(ended);
      co_yield 1;
      co_await sleep(1h);
      co_yield 2;
    };
    bool ended = false;
    auto limited = source(ended) | stream::timeout(10ms);
    auto first = co_await limited.next();
    EXPECT_EQ(first->value(), 1);
    auto second = co_await limited.next();
    EXPECT_EQ(second->error(), std::errc::timed_out);
    EXPECT_TRUE(ended);
    EXPECT_EQ(since(begun), 10);
    auto third = co_await limited.next();
    EXPECT_FALSE(third.has_value());
  });
}

TEST(timeout_stream, counts_from_when_a_value_is_asked_for) {
  virtual_time([]() -> task<> {
    std::vector<int> pauses{9, 9, 9};
    int values = 0;
    auto slow = [&values](skua::result<int> one) -> task<> {
      if (one) ++values;
      co_await sleep(1h);
    };
    co_await stream::for_each(after(std::move(pauses)) | stream::timeout(10ms), slow);
    EXPECT_EQ(values, 3);
  });
}

TEST(timeout_stream, throws_what_the_source_throws) {
  auto fails = [](int) -> int { throw std::runtime_error("no"); };
  auto body = [&fails]() -> task<> {
    co_await stream::collect(numbers(1) | stream::map(fails) | stream::timeout(10ms));
  };
  EXPECT_THROW(virtual_time(body()), std::runtime_error);
}

TEST(merge_in_time, gives_values_in_the_order_of_their_times) {
  virtual_time([]() -> task<> {
    std::vector<int> slow{10, 10, 10};
    std::vector<int> fast{4, 4, 4, 4, 4, 4};
    times at;
    const instant begun = skua::now();
    auto note = [&](int) { at.push_back(since(begun)); };
    co_await stream::for_each(stream::merge(after(std::move(slow)), after(std::move(fast))), note);
    EXPECT_EQ(at, (times{4, 8, 10, 12, 16, 20, 20, 24, 30}));
  });
}

TEST(buffered_in_time, has_as_many_under_way_as_it_may) {
  virtual_time([]() -> task<> {
    const instant begun = skua::now();
    auto slow = [](int n) -> task<int> {
      co_await sleep(10ms);
      co_return n;
    };
    ints got = co_await stream::collect(numbers(10) | stream::buffered(5, slow));
    EXPECT_EQ(got.size(), 10U);
    EXPECT_EQ(since(begun), 20);
  });
}

/// Each ready as soon as it is asked for again.
async_generator<int> every_10_ms(int count) {
  for (int i = 0; i < count; ++i) {
    co_await sleep(10ms);
    co_yield i;
  }
}

TEST(buffered, ends_soon_after_a_failure_however_long_its_source_is) {
  virtual_time([]() -> task<> {
    int begun = 0;
    auto fails_first = [&begun](int n) -> task<int> {
      ++begun;
      co_await sleep(n == 0 ? 10ms : 30ms);
      if (n == 0) throw std::runtime_error("the first");
      co_return n;
    };
    const instant start = skua::now();
    auto all = every_10_ms(1'000) | stream::buffered_unordered(4, fails_first);
    EXPECT_THROW(co_await stream::collect(std::move(all)), std::runtime_error);
    EXPECT_LE(begun, 4);
    EXPECT_LE(since(start), 100);
  });
}

}  // namespace
