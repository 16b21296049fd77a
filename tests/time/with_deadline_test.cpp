// tests/time/with_deadline_test.cpp: a deadline is known, and kept, by everything beneath it.
#include "skua/time/with_deadline.hpp"

#include "skua/skua.hpp"
#include "skua/time/virtual_time.hpp"
#include "support/errors.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace {

using namespace std::chrono_literals;
using skua::current_deadline;
using skua::instant;
using skua::now;
using skua::scope;
using skua::sleep;
using skua::task;
using skua::with_deadline;
using skua::testing::virtual_time;
using skua_test::error_of;

task<instant> seen() {
  co_return co_await current_deadline();
}
task<int> after(std::chrono::nanoseconds length, int value) {
  co_await sleep(length);
  co_return value;
}

TEST(with_deadline, gives_what_ends_in_time_and_stops_what_does_not) {
  virtual_time([]() -> task<> {
    const instant begun = now();
    EXPECT_EQ(co_await with_deadline(begun + 2s, after(1s, 7)), 7);
    EXPECT_EQ(now() - begun, 1s);
    EXPECT_EQ(error_of(co_await with_deadline(begun + 2s, after(1h, 7))), std::errc::timed_out);
    EXPECT_EQ(now() - begun, 2s);
    EXPECT_EQ(error_of(co_await with_deadline(begun, sleep(1s))), std::errc::timed_out);
    EXPECT_EQ(now() - begun, 2s) << "the deadline was over before";
    const auto no_value = co_await with_deadline(now() + 2s, sleep(1s));
    EXPECT_TRUE(no_value.has_value());
  });
}

TEST(with_deadline, is_known_beneath_and_nowhere_else) {
  virtual_time([]() -> task<> {
    const instant end = now() + 5s;
    EXPECT_EQ(co_await seen(), instant::never());
    EXPECT_EQ(co_await with_deadline(end, seen()), end);
    EXPECT_EQ(co_await seen(), instant::never());
    EXPECT_EQ(co_await with_deadline(instant::never(), seen()), instant::never());
  });
}

TEST(with_deadline, the_earliest_holds) {
  virtual_time([]() -> task<> {
    const instant end = now() + 5s;
    EXPECT_EQ(co_await with_deadline(end, with_deadline(end + 1s, seen())), end);
    EXPECT_EQ(co_await with_deadline(end, with_deadline(end - 1s, seen())), end - 1s);
    auto body = [](bool& went_on, instant later) -> task<> {
      co_await with_deadline(later, sleep(1h));
      went_on = true;
    };
    bool went_on = false;
    EXPECT_EQ(error_of(co_await with_deadline(end, body(went_on, end + 1s))), std::errc::timed_out);
    EXPECT_EQ(now(), end);
    EXPECT_FALSE(went_on) << "the outer one unwinds what is within";
    EXPECT_EQ(error_of(co_await with_deadline(end + 9s, body(went_on, end + 3s))), std::errc());
    EXPECT_EQ(now(), end + 3s);
    EXPECT_TRUE(went_on) << "the inner one was the earlier";
  });
}

TEST(with_deadline, holds_beneath_a_shield_that_hides_an_earlier_one) {
  virtual_time([]() -> task<> {
    const instant begun = now();
    auto tidies_up = [](instant by) -> task<std::error_code> {
      co_return error_of(co_await skua::shielded(with_deadline(by, sleep(1h))));
    };
    EXPECT_EQ(co_await with_deadline(begun + 1s, tidies_up(begun + 3s)), std::errc::timed_out);
    EXPECT_EQ(now() - begun, 3s);
    const instant same = now() + 1s;
    EXPECT_EQ(co_await with_deadline(same, tidies_up(same)), std::errc::timed_out);
    EXPECT_EQ(now(), same) << "also if it is the same";
    EXPECT_EQ(co_await with_deadline(begun + 1s, with_deadline(begun + 9s, seen())), begun + 1s);
  });
}

TEST(with_deadline, throws_what_is_thrown) {
  virtual_time([]() -> task<> {
    auto fails = []() -> task<int> {
      co_await sleep(1s);
      throw std::runtime_error("of its own");
    };
    std::string what;
    try {
      std::ignore = co_await with_deadline(now() + 2s, fails());
    } catch (const std::runtime_error& thrown) {
      what = thrown.what();
    }
    EXPECT_EQ(what, "of its own");
  });
}

class deadlines : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, deadlines, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(deadlines, flow_into_branches_parallel_chains_and_children_of_a_scope) {
  auto rt = start();
  auto body = []() -> task<int> {
    const instant end = now() + 1h;
    auto look = [](instant expected, std::atomic<int>& right) -> task<> {
      co_await skua::yield();
      if (co_await current_deadline() == expected) ++right;
    };
    auto nested = [look](scope& children, instant expected, std::atomic<int>& right) -> task<> {
      children.spawn(look, expected, std::ref(right));
      co_await look(expected, right);
    };
    auto all = [look, nested](instant expected, std::atomic<int>& right) -> task<> {
      auto fill = [look, nested](scope& children, instant to_see,
                                 std::atomic<int>& count) -> task<> {
        for (int i = 0; i < 20; ++i) children.spawn(look, to_see, std::ref(count));
        auto deeper = [nested](instant there, std::atomic<int>& all_of) -> task<> {
          co_await skua::with_scope(nested, there, std::ref(all_of));
        };
        children.spawn(deeper, to_see, std::ref(count));
        co_return;
      };
      co_await skua::when_all(look(expected, right), look(expected, right));
      co_await skua::parallel_all(look(expected, right), look(expected, right));
      co_await skua::with_scope(fill, expected, std::ref(right));
    };
    std::atomic<int> right = 0;
    EXPECT_TRUE((co_await with_deadline(end, all(end, right))).has_value());
    co_return right.load();
  };
  EXPECT_EQ(rt.block_on(body()), 26);
}

TEST_P(deadlines, stop_the_children_of_a_scope) {
  auto rt = start();
  auto body = []() -> task<int> {
    std::atomic<int> unwound = 0;
    struct count_down {
      explicit count_down(std::atomic<int>& of) : of_(of) {}
      count_down(const count_down&) = delete;
      count_down& operator=(const count_down&) = delete;
      ~count_down() { ++of_; }
      std::atomic<int>& of_;
    };
    auto waits = [](std::atomic<int>& count) -> task<> {
      const count_down at_end(count);
      co_await sleep(1h);
    };
    auto fill = [waits](scope& children, std::atomic<int>& count) -> task<> {
      for (int i = 0; i < 10; ++i) children.spawn(waits, std::ref(count));
      co_await waits(count);
    };
    const auto how = co_await with_deadline(now() + 5ms, skua::with_scope(fill, std::ref(unwound)));
    EXPECT_EQ(error_of(how), std::errc::timed_out);
    co_return unwound.load();
  };
  // A child that had not begun is never begun.
  EXPECT_LE(rt.block_on(body()), 11);
}

TEST_P(deadlines, are_given_to_other_tasks_by_hand) {
  auto rt = start();
  auto body = []() -> task<> {
    const instant end = now() + 1h;
    auto inner = []() -> task<> {
      EXPECT_EQ(co_await skua::spawn(seen()), instant::never());
      const instant mine = co_await current_deadline();
      EXPECT_EQ(co_await skua::spawn(with_deadline(mine, seen())), mine);
    };
    EXPECT_TRUE((co_await with_deadline(end, inner())).has_value());
  };
  rt.block_on(body());
}

}  // namespace
