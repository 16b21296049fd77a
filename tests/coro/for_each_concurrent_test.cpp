// tests/coro/for_each_concurrent_test.cpp: every element once, so many at a time.
#include "skua/coro/for_each_concurrent.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/generator.hpp"
#include "skua/coro/yield.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using skua::for_each_concurrent;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

/// What happened, and how many were at it at once.
struct record {
  std::vector<int> order;
  int under_way = 0;
  int most = 0;
};

task<> note(record& to, int number) {
  ++to.under_way;
  to.most = std::max(to.most, to.under_way);
  to.order.push_back(number);
  for (int i = 0; i < number % 3; ++i) co_await skua::yield();
  --to.under_way;
}

TEST(for_each_concurrent, does_every_element_in_order_so_many_at_a_time) {
  manual_executor here;
  for (const int at_once : {1, 3, 100}) {
    record seen;
    auto body = [](record& to, int limit) -> task<> {
      const std::vector<int> numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
      auto each = [&to](int number) { return note(to, number); };
      co_await for_each_concurrent(numbers, static_cast<std::size_t>(limit), each);
    };
    driven<void> all(here, body(seen, at_once));
    here.run_ready();
    ASSERT_TRUE(all.ended());
    EXPECT_EQ(seen.order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_LE(seen.most, at_once);
    EXPECT_EQ(seen.most > 1, at_once > 1);
  }
}

TEST(for_each_concurrent, passes_elements_of_a_container_where_they_are) {
  manual_executor here;
  std::vector<int> numbers{1, 2, 3};
  auto body = [](std::vector<int>& to) -> task<> {
    auto each = [](int& one) -> task<> {
      co_await skua::yield();
      one *= 10;
    };
    co_await for_each_concurrent(to, 2, each);
  };
  driven<void> all(here, body(numbers));
  here.run_ready();
  EXPECT_EQ(numbers, (std::vector<int>{10, 20, 30}));
}

skua::generator<std::string> words() {
  for (const char* one : {"a long enough word to be allocated", "b", "c"})
    co_yield std::string(one);
}

TEST(for_each_concurrent, keeps_what_a_range_makes_as_it_goes) {
  manual_executor here;
  std::string joined;
  auto body = [](std::string& to) -> task<> {
    auto each = [&to](const std::string& one) -> task<> {
      co_await skua::yield();
      to += one;
    };
    co_await for_each_concurrent(words(), 2, each);
  };
  driven<void> all(here, body(joined));
  here.run_ready();
  EXPECT_EQ(joined, "a long enough word to be allocatedbc");
}

TEST(for_each_concurrent, of_nothing_does_nothing) {
  manual_executor here;
  auto body = []() -> task<> {
    auto never = [](int) -> task<> {
      ADD_FAILURE();
      co_return;
    };
    co_await for_each_concurrent(std::vector<int>(), 2, never);
  };
  driven<void> all(here, body());
  here.run_ready();
  EXPECT_TRUE(all.ended());
}

TEST(for_each_concurrent, the_first_failure_ends_it_when_the_others_have_ended) {
  manual_executor here;
  std::vector<int> begun;
  gate slow;
  slow.answer = skua::cancel_answer::pending;
  auto body = [](gate& at, std::vector<int>& seen) -> task<> {
    auto each = [&](int number) -> task<> {
      seen.push_back(number);
      if (number == 0) co_await gate::wait(at);
      if (number == 2) throw std::runtime_error("two");
    };
    co_await for_each_concurrent(std::views::iota(0, 100), 2, each);
  };
  driven<void> all(here, body(slow, begun));
  here.run_ready();
  EXPECT_FALSE(all.ended());
  slow.open_cancelled();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().has_exception());
  EXPECT_EQ(begun, (std::vector<int>{0, 1, 2}));
}

TEST(for_each_concurrent, a_stop_stops_them_and_unwinds) {
  manual_executor here;
  std::array<gate, 3> gates;
  auto body = [](std::array<gate, 3>& at) -> task<> {
    auto each = [](gate& one) -> task<> { co_await gate::wait(one); };
    co_await for_each_concurrent(at, 2, each);
  };
  driven<void> all(here, body(gates));
  here.run_ready();
  EXPECT_TRUE(gates[0].waited_for() && gates[1].waited_for() && !gates[2].waited_for());
  all.request_stop();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().stopped());
  EXPECT_FALSE(gates[2].waited_for());
}

TEST(for_each_concurrent, a_function_that_survives_the_stop_is_not_begun_again) {
  manual_executor here;
  int begun = 0;
  gate at;
  auto body = [](gate& where, int& count) -> task<> {
    auto wait = [](gate& one) -> task<int> { co_return co_await gate::wait(one); };
    auto each = [&](int) -> task<> {
      ++count;
      static_cast<void>(co_await skua::as_outcome(wait(where)));
    };
    co_await for_each_concurrent(std::views::iota(0, 100), 1, each);
  };
  driven<void> all(here, body(at, begun));
  here.run_ready();
  all.request_stop();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(begun, 1);
}

/// A range whose end cannot be told when it comes to the third.
struct breaks {
  struct iterator {
    using difference_type = std::ptrdiff_t;
    using value_type = int;
    int at = 0;
    int operator*() const { return at; }
    iterator& operator++() {
      ++at;
      return *this;
    }
    void operator++(int) { ++at; }
    bool operator==(std::default_sentinel_t) const {
      if (at == 2) throw std::runtime_error("no end");
      return false;
    }
  };
  [[nodiscard]] iterator begin() const { return {}; }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }
};

TEST(for_each_concurrent, a_range_that_throws_ends_it_when_the_others_have_ended) {
  manual_executor here;
  gate at;
  auto body = [](gate& where) -> task<> {
    auto each = [&](int) -> task<> { co_await gate::wait(where); };
    co_await for_each_concurrent(breaks(), 5, each);
  };
  driven<void> all(here, body(at));
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().has_exception());
}

TEST(for_each_concurrent_death, none_at_a_time_says_so) {
  manual_executor here;
  auto body = []() -> task<> {
    auto each = [](int) -> task<> { co_return; };
    co_await for_each_concurrent(std::vector<int>(1), 0, each);
  };
  EXPECT_DEATH(
      {
        driven<void> all(here, body());
        here.run_ready();
      },
      "at least one under way");
}

}  // namespace
