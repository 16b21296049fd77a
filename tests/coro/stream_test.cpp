// tests/coro/stream_test.cpp: adaptors give the right values, ask for no more, and end well.
#include "skua/coro/stream.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/yield.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace stream = skua::stream;
using skua::async_generator;
using skua::sync_wait;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

/// Counts how many values were asked for.
async_generator<int> numbers(int count, int* asked = nullptr) {
  for (int i = 0; i < count; ++i) {
    if (asked != nullptr) ++*asked;
    co_await skua::yield();
    co_yield i;
  }
}

using ints = std::vector<int>;

TEST(stream, map_gives_what_the_function_gives) {
  auto twice = [](int n) { return std::to_string(2 * n); };
  EXPECT_EQ(sync_wait(stream::collect(numbers(3) | stream::map(twice))),
            (std::vector<std::string>{"0", "2", "4"}));
}

TEST(stream, functions_may_be_coroutines) {
  auto twice = [](int n) -> task<int> {
    co_await skua::yield();
    co_return 2 * n;
  };
  auto odd = [](int n) -> task<bool> {
    co_await skua::yield();
    co_return n % 2 == 1;
  };
  EXPECT_EQ(sync_wait(stream::collect(numbers(5) | stream::filter(odd) | stream::map(twice))),
            (ints{2, 6}));
  auto small = [](const int& n) -> task<bool> {
    co_await skua::yield();
    co_return n < 2;
  };
  EXPECT_EQ(sync_wait(stream::collect(numbers(5) | stream::take_while(small))), (ints{0, 1}));
}

TEST(stream, take_asks_for_no_more) {
  int asked = 0;
  EXPECT_EQ(sync_wait(stream::collect(numbers(100, &asked) | stream::take(3))), (ints{0, 1, 2}));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(sync_wait(stream::collect(numbers(2) | stream::take(3))), (ints{0, 1}));
  EXPECT_EQ(sync_wait(stream::collect(numbers(2) | stream::take(0))), ints());
}

TEST(stream, skip_leaves_out_the_first) {
  EXPECT_EQ(sync_wait(stream::collect(numbers(5) | stream::skip(3))), (ints{3, 4}));
  EXPECT_EQ(sync_wait(stream::collect(numbers(2) | stream::skip(3))), ints());
}

TEST(stream, take_while_ends_at_the_first_that_does_not_fit) {
  auto small = [](int n) { return n < 2; };
  EXPECT_EQ(sync_wait(stream::collect(numbers(5) | stream::take_while(small))), (ints{0, 1}));
}

TEST(stream, chunk_gives_vectors_and_the_rest) {
  EXPECT_EQ(sync_wait(stream::collect(numbers(5) | stream::chunk(2))),
            (std::vector<ints>{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(sync_wait(stream::collect(numbers(4) | stream::chunk(2))),
            (std::vector<ints>{{0, 1}, {2, 3}}));
  EXPECT_EQ(sync_wait(stream::collect(numbers(0) | stream::chunk(2))), std::vector<ints>());
}

TEST(stream, for_each_calls_or_awaits_its_function) {
  int sum = 0;
  auto add = [&sum](int n) { sum += n; };
  sync_wait(stream::for_each(numbers(4), add));
  auto add_later = [&sum](int n) -> task<> {
    co_await skua::yield();
    sum += n;
  };
  sync_wait(stream::for_each(numbers(4), add_later));
  EXPECT_EQ(sum, 12);
}

TEST(stream, a_loop_can_be_left) {
  int asked = 0;
  int sum = 0;
  auto up_to_three = [&sum](int n) {
    sum += n;
    return sum < 3 ? stream::flow::go_on : stream::flow::leave;
  };
  EXPECT_EQ(sync_wait(stream::for_each(numbers(100, &asked), up_to_three)), stream::flow::leave);
  EXPECT_EQ(asked, 3);
  auto later = [&up_to_three](int n) -> task<stream::flow> {
    co_await skua::yield();
    co_return up_to_three(n);
  };
  sum = -100;
  EXPECT_EQ(sync_wait(stream::for_each(numbers(4), later)), stream::flow::go_on);
  EXPECT_EQ(sum, -94);
}

TEST(stream, an_adaptor_with_a_name_can_be_used_again) {
  const auto three = stream::take(3);
  EXPECT_EQ(sync_wait(stream::collect(numbers(9) | three)), (ints{0, 1, 2}));
  EXPECT_EQ(sync_wait(stream::collect(numbers(2) | three)), (ints{0, 1}));
}

TEST(stream, unawaited_gives_awaitables_as_they_are) {
  auto twice = [](int n) -> task<int> { co_return 2 * n; };
  auto body = [&twice]() -> task<int> {
    int sum = 0;
    auto all = numbers(4) | stream::unawaited(twice);
    while (auto one = co_await all.next()) sum += co_await std::move(*one);
    co_return sum;
  };
  EXPECT_EQ(sync_wait(body()), 12);
}

struct pair_of_strings {
  std::string first;
  std::string second;
};
TEST(stream, carries_aggregates) {
  auto both = [](int n) { return pair_of_strings{std::to_string(n), std::string(40, 'x')}; };
  auto join = [](const pair_of_strings& one) { return one.first + one.second; };
  EXPECT_EQ(sync_wait(stream::collect(numbers(1) | stream::map(both) | stream::map(join))),
            (std::vector<std::string>{"0" + std::string(40, 'x')}));
}

async_generator<std::unique_ptr<int>> owners() {
  for (int i = 0; i < 4; ++i) co_yield std::make_unique<int>(i);
}

TEST(stream, values_are_moved_along) {
  auto odd = [](const std::unique_ptr<int>& n) { return *n % 2 == 1; };
  auto open = [](std::unique_ptr<int> n) { return *n; };
  EXPECT_EQ(sync_wait(stream::collect(owners() | stream::filter(odd) | stream::take(5) |
                                      stream::map(open))),
            (ints{1, 3}));
}

async_generator<int&> places(ints& of) {
  for (int& one : of) co_yield one;
}

TEST(stream, references_stay_references) {
  ints values{1, 2, 3};
  auto odd = [](const int& n) { return n % 2 == 1; };
  auto change = [](int& n) { n *= 10; };
  sync_wait(stream::for_each(places(values) | stream::filter(odd), change));
  EXPECT_EQ(values, (ints{10, 2, 30}));
}

TEST(stream, an_exception_ends_it) {
  auto refuse = [](int n) {
    if (n == 2) throw std::runtime_error("two");
    return n;
  };
  auto body = [&refuse]() -> task<int> {
    auto all = numbers(5) | stream::map(refuse);
    int seen = 0;
    try {
      while (auto item = co_await all.next()) ++seen;
    } catch (const std::runtime_error&) {
      seen += 100;
    }
    auto after = co_await all.next();
    co_return after ? -1 : seen;
  };
  EXPECT_EQ(sync_wait(body()), 102);
}

async_generator<int> waits(gate& at) {
  for (;;) co_yield co_await gate::wait(at);
}

TEST(stream, a_stop_unwinds_adaptors_and_source) {
  manual_executor here;
  gate at;
  auto body = [](gate& where) -> task<> {
    auto same = [](int n) { return n; };
    auto ignore = [](int) {};
    co_await stream::for_each(waits(where) | stream::map(same) | stream::take(10), ignore);
  };
  driven<void> all(here, body(at));
  here.run_ready();
  at.open(1);
  here.run_ready();
  ASSERT_TRUE(at.waited_for());
  all.request_stop();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().stopped());
}

TEST(stream_death, a_chunk_of_none_says_so) {
  EXPECT_DEATH(static_cast<void>(stream::chunk(0)), "at least one value");
}

}  // namespace
