// tests/coro/async_generator_test.cpp: values that are awaited, one at a time, and their end.
#include "skua/coro/async_generator.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"
#include "support/noted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using skua::as_outcome;
using skua::async_generator;
using skua::sync_wait;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;
using skua_test::noted;
using testing::ElementsAre;

static_assert(!std::is_copy_constructible_v<async_generator<int>>);
static_assert(std::is_same_v<async_generator<int>::item, std::optional<int>>);
static_assert(std::is_same_v<async_generator<const int&>::item, const int*>);

async_generator<int> count_to(int last) {
  for (int i = 1; i <= last; ++i) co_yield i;
}
async_generator<int> from_gate(gate& at, std::string& log) {
  const noted local(log, "body ");
  for (;;) {
    const int value = co_await gate::wait(at);
    if (value < 0) co_return;
    co_yield value;
  }
}
template <typename T>
task<std::vector<T>> all_of(async_generator<T> from) {
  std::vector<T> all;
  while (auto item = co_await from.next()) all.push_back(std::move(*item));
  co_return all;
}

TEST(async_generator, gives_what_is_yielded_in_order) {
  EXPECT_THAT(sync_wait(all_of(count_to(4))), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(sync_wait(all_of(count_to(0))), ElementsAre());
}

TEST(async_generator, gives_references_to_the_very_objects) {
  std::vector<int> numbers{1, 2, 3};
  auto each = [](std::vector<int>& of) -> async_generator<int&> {
    for (int& one : of) co_yield one;
  };
  auto consume = [&]() -> task<> {
    auto from = each(numbers);
    while (int* item = co_await from.next()) *item *= 10;
  };
  sync_wait(consume());
  EXPECT_THAT(numbers, ElementsAre(10, 20, 30));
}

TEST(async_generator, moves_values_out_and_copies_yielded_variables) {
  std::string left_over;
  auto texts = [&]() -> async_generator<std::string> {
    const std::string own = "a text too long to be stored within the string object";
    std::string changed = own;
    co_yield changed;
    left_over = changed;
    co_yield std::move(changed);
    co_yield "literal";
  };
  const auto all = sync_wait(all_of(texts()));
  EXPECT_THAT(all, ElementsAre(left_over, left_over, "literal"));
  EXPECT_EQ(left_over.size(), 53U);

  auto boxes = []() -> async_generator<std::unique_ptr<int>> {
    co_yield std::make_unique<int>(1);
    auto kept = std::make_unique<int>(2);
    co_yield std::move(kept);
  };
  const auto taken = sync_wait(all_of(boxes()));
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(*taken[0] + *taken[1], 3);
}

TEST(async_generator, runs_only_as_far_as_it_is_asked) {
  std::string log;
  auto lazy = [&]() -> async_generator<int> {
    log += "one ";
    co_yield 1;
    log += "two ";
    co_yield 2;
    log += "end ";
  };
  auto consume = [&]() -> task<> {
    auto from = lazy();
    log += "made ";
    (void)co_await from.next();
    log += "between ";
    (void)co_await from.next();
  };
  sync_wait(consume());
  EXPECT_EQ(log, "made one between two ");
}

TEST(async_generator, may_wait_between_its_values) {
  manual_executor here;
  gate at;
  std::string log;
  driven<std::vector<int>> whole(here, all_of(from_gate(at, log)));
  for (const int value : {3, 5, 7, -1}) {
    here.run_ready();
    ASSERT_TRUE(at.waited_for());
    at.open(value);
  }
  here.run_ready();
  EXPECT_THAT(*whole.result(), ElementsAre(3, 5, 7));
  EXPECT_EQ(log, "body ");
}

TEST(async_generator, lets_an_exception_leave_next_and_has_ended_then) {
  std::string log;
  auto fails = [&]() -> async_generator<int> {
    const noted local(log, "unwound ");
    co_yield 1;
    throw std::runtime_error("no more");
  };
  auto consume = [&]() -> task<> {
    auto from = fails();
    const auto first = co_await from.next();
    EXPECT_EQ(first, 1);
    try {
      (void)co_await from.next();
      log += "not reached ";
    } catch (const std::runtime_error& error) {
      log += error.what();
    }
    const auto after = co_await from.next();
    EXPECT_FALSE(after.has_value());
  };
  sync_wait(consume());
  EXPECT_EQ(log, "unwound no more");
}

TEST(async_generator, stays_at_its_end) {
  auto consume = []() -> task<> {
    auto from = count_to(1);
    const auto first = co_await from.next();
    EXPECT_TRUE(first.has_value());
    for (int i = 0; i < 3; ++i) {
      const auto none = co_await from.next();
      EXPECT_FALSE(none.has_value());
    }
  };
  sync_wait(consume());
}

TEST(async_generator, frees_its_frame_at_its_end) {
  auto owned = std::make_shared<int>(1);
  auto consume = [&]() -> task<> {
    auto from = [](std::shared_ptr<int> held) -> async_generator<int> { co_yield *held; }(owned);
    (void)co_await from.next();
    EXPECT_EQ(owned.use_count(), 2);
    (void)co_await from.next();
    EXPECT_EQ(owned.use_count(), 1);
  };
  sync_wait(consume());
}

TEST(async_generator, destroys_its_locals_once_when_dropped_midway) {
  std::string log;
  auto body = [&]() -> async_generator<int> {
    const noted first(log, "first ");
    co_yield 1;
    const noted second(log, "second ");
    co_yield 2;
    log += "not reached ";
  };
  auto consume = [&]() -> task<> {
    {
      auto from = body();
      (void)co_await from.next();
      (void)co_await from.next();
    }
    log += "dropped";
  };
  sync_wait(consume());
  EXPECT_EQ(log, "second first dropped");
}

TEST(async_generator, runs_nothing_when_dropped_before_its_start) {
  auto owned = std::make_shared<int>(1);
  {
    auto dropped = [](std::shared_ptr<int> held) -> async_generator<int> { co_yield *held; }(owned);
    EXPECT_EQ(owned.use_count(), 2);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(async_generator, can_be_moved_between_two_values_and_to_another_task) {
  auto consume = []() -> task<int> {
    auto from = count_to(10);
    int sum = *co_await from.next();
    auto moved = std::move(from);
    const auto second = co_await moved.next();
    sum += *second;
    const auto none = co_await from.next();
    EXPECT_FALSE(none.has_value()) << "moved from";
    from = std::move(moved);
    const auto rest = co_await all_of(std::move(from));
    for (const int n : rest) sum += n;
    co_return sum;
  };
  EXPECT_EQ(sync_wait(consume()), 55);

  auto kept = count_to(2);
  auto one = [&]() -> task<int> {
    const auto item = co_await kept.next();
    co_return *item;
  };
  EXPECT_EQ(sync_wait(one()), 1);
  EXPECT_EQ(sync_wait(one()), 2);
}

TEST(async_generator, that_is_given_another_body_drops_its_own) {
  auto holds = [](std::shared_ptr<int> held) -> async_generator<int> { co_yield *held; };
  const auto owned = std::make_shared<int>(1);
  auto first = holds(owned);
  auto second = count_to(3);
  first = std::move(second);
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(sync_wait(all_of(std::move(second))), std::vector<int>());
  EXPECT_EQ(sync_wait(all_of(std::move(first))), (std::vector<int>{1, 2, 3}));
}

TEST(async_generator, unwinds_before_its_consumer_when_the_task_is_stopped) {
  manual_executor here;
  gate at;
  std::string log;
  auto helper = [&]() -> task<int> {
    const noted local(log, "helper ");
    co_return co_await gate::wait(at);
  };
  auto body = [&]() -> async_generator<int> {
    const noted local(log, "body ");
    const int value = co_await helper();
    co_yield value;
  };
  auto consume = [&]() -> task<> {
    const noted before(log, "before");
    auto from = body();
    const noted after(log, "after ");
    (void)co_await from.next();
    log += "not reached ";
  };
  driven<void> whole(here, consume());
  here.run_ready();
  ASSERT_TRUE(at.waited_for());
  whole.request_stop();
  here.run_ready();
  EXPECT_TRUE(whole.ended());
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_EQ(log, "helper body after before");
}

TEST(async_generator, is_at_its_end_after_a_stop_that_the_consumer_caught) {
  manual_executor here;
  gate at;
  std::string log;
  auto consume = [&]() -> task<bool> {
    auto from = from_gate(at, log);
    auto how = co_await as_outcome(from.next());
    log += "caught ";
    EXPECT_TRUE(how.stopped());
    const auto none = co_await from.next();
    co_return none.has_value();
  };
  driven<bool> whole(here, consume());
  here.run_ready();
  whole.request_stop();
  here.run_ready();
  EXPECT_TRUE(whole.ended());
  ASSERT_TRUE(whole.result().has_value());
  EXPECT_FALSE(*whole.result());
  EXPECT_EQ(log, "body caught ");
}

TEST(async_generator, goes_on_after_a_stop_that_its_body_caught) {
  manual_executor here;
  gate at;
  auto body = [&]() -> async_generator<int> {
    auto how = co_await as_outcome(gate::wait(at));
    co_yield how.stopped() ? 1 : 0;
    co_yield 2;
  };
  driven<std::vector<int>> whole(here, all_of(body()));
  here.run_ready();
  whole.request_stop();
  here.run_ready();
  ASSERT_TRUE(whole.ended());
  EXPECT_THAT(*whole.result(), ElementsAre(1, 2));
}

TEST(async_generator, whose_local_throws_while_it_is_dropped_ends_the_program) {
  struct fuse {
    fuse() = default;
    fuse(const fuse&) = delete;
    fuse& operator=(const fuse&) = delete;
    ~fuse() noexcept(false) { throw std::runtime_error("late"); }
  };
  auto lit = []() -> async_generator<int> {
    const fuse local;
    co_yield 1;
  };
  auto drop = [&]() -> task<> {
    auto dropped = lit();
    (void)co_await dropped.next();
  };
  EXPECT_DEATH(sync_wait(drop()), "");
}

async_generator<int> in_layers(int depth) {
  if (depth == 0) {
    co_yield 0;
    co_yield 1;
    co_return;
  }
  auto inner = in_layers(depth - 1);
  while (auto item = co_await inner.next()) co_yield *item + 1;
}

TEST(async_generator, may_consume_itself_recursively) {
  EXPECT_THAT(sync_wait(all_of(in_layers(100))), ElementsAre(100, 101));
}

TEST(async_generator, gives_a_million_values_on_a_flat_stack) {
  auto count = []() -> task<int> {
    auto from = count_to(1'000'000);
    int last = 0;
    while (auto item = co_await from.next()) last = *item;
    co_return last;
  };
  EXPECT_EQ(sync_wait(count()), 1'000'000);
}

TEST(async_generator, serves_one_next_at_a_time_and_stays_where_it_is) {
  manual_executor here;
  gate at;
  std::string log;
  auto shared = std::make_unique<async_generator<int>>(from_gate(at, log));
  auto consume = [&]() -> task<> { (void)co_await shared->next(); };
  driven<void> first(here, consume());
  here.run_ready();
  auto second_at_once = [&] {
    driven<void> second(here, consume());
    here.run_ready();
  };
  EXPECT_DEATH(second_at_once(), "one next\\(\\) of a generator at a time");
  EXPECT_DEATH(shared.reset(), "a generator stays where it is");
  EXPECT_DEATH(const auto moved = std::move(*shared), "a generator stays where it is");
  EXPECT_DEATH(*shared = count_to(1), "a generator stays where it is");
  at.open(1);
  here.run_ready();
  EXPECT_TRUE(first.ended());
}

}  // namespace
