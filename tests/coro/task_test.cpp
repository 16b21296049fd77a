// tests/coro/task_test.cpp: values, references and exceptions reach the awaiter; misuse is told.
#include "skua/coro/task.hpp"

#include "skua/coro/sync_wait.hpp"
#include "support/noted.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using skua::sync_wait;
using skua::task;

task<int> answer() {
  co_return 42;
}
task<std::unique_ptr<int>> boxed(int n) {
  co_return std::make_unique<int>(n);
}
task<int&> first_of(std::vector<int>& numbers) {
  co_return numbers.front();
}
task<> append(std::string& to, const char* text) {
  to += text;
  co_return;
}
task<int> fails() {
  throw std::runtime_error("no answer");
  co_return 0;
}

TEST(task, gives_its_value) {
  EXPECT_EQ(sync_wait(answer()), 42);
}

TEST(task, gives_a_value_that_can_only_be_moved) {
  EXPECT_EQ(*sync_wait(boxed(7)), 7);
}

TEST(task, gives_a_reference_to_the_very_object) {
  std::vector<int> numbers{1, 2};
  EXPECT_EQ(&sync_wait(first_of(numbers)), &numbers[0]);
}

TEST(task, converts_what_is_returned) {
  auto text = []() -> task<std::string> { co_return "converted"; };
  auto empty = []() -> task<std::vector<int>> { co_return {}; };
  EXPECT_EQ(sync_wait(text()), "converted");
  EXPECT_TRUE(sync_wait(empty()).empty());
}

TEST(task, runs_nothing_until_it_is_awaited) {
  std::string log;
  {
    auto lazy = append(log, "never");
    EXPECT_TRUE(lazy.valid());
  }
  EXPECT_EQ(log, "");
  auto once = append(log, "once");
  sync_wait(std::move(once));
  EXPECT_EQ(log, "once");
}

TEST(task, destroys_its_arguments_when_dropped_before_its_start) {
  auto owned = std::make_shared<int>(1);
  {
    auto dropped = [](std::shared_ptr<int> held) -> task<int> { co_return *held; }(owned);
    EXPECT_EQ(owned.use_count(), 2);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(task, ends_its_frame_before_the_awaiting_expression_goes_on) {
  auto owned = std::make_shared<int>(5);
  auto child = [](std::shared_ptr<int> held) -> task<int> { co_return *held; };
  auto parent = [&]() -> task<long> {
    const int value = co_await child(owned);
    co_return 10L * value + owned.use_count();
  };
  EXPECT_EQ(sync_wait(parent()), 51);
}

TEST(task, move_assignment_drops_what_was_there) {
  auto owned = std::make_shared<int>(1);
  auto keep = [](std::shared_ptr<int> held) -> task<int> { co_return *held; };
  auto one = keep(owned);
  one = keep(std::make_shared<int>(2));
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(sync_wait(std::move(one)), 2);
}

TEST(task, an_exception_travels_through_every_awaiter) {
  std::string log;
  auto middle = [&]() -> task<int> {
    const skua_test::noted at_end(log, "unwound ");
    co_return co_await fails();
  };
  auto outer = [&]() -> task<int> {
    try {
      co_return co_await middle();
    } catch (const std::runtime_error& error) {
      log += error.what();
    }
    co_return -1;
  };
  EXPECT_EQ(sync_wait(outer()), -1);
  EXPECT_EQ(log, "unwound no answer");
}

TEST(task, an_exception_after_the_value_replaces_it) {
  struct fuse {
    fuse() = default;
    ~fuse() noexcept(false) { throw std::runtime_error("late"); }
  };
  auto late = []() -> task<std::string> {
    const fuse lit;
    co_return std::string(100, 'x');
  };
  EXPECT_THROW(sync_wait(late()), std::runtime_error);
}

TEST(task, a_second_value_replaces_the_first) {
  struct fuse {
    fuse() = default;
    ~fuse() noexcept(false) { throw 1; }
  };
  auto twice = []() -> task<std::string> {
    try {
      const fuse lit;
      co_return std::string(100, 'x');
    } catch (int) {
    }
    co_return std::string(100, 'y');
  };
  EXPECT_EQ(sync_wait(twice()), std::string(100, 'y'));
}

TEST(task, a_throwing_move_of_the_value_leaks_no_frame) {
  struct heavy {
    explicit heavy(std::shared_ptr<int> of) : held(std::move(of)) {}
    // NOLINTNEXTLINE(bugprone-exception-escape)
    heavy(heavy&& from) : held(from.held) {
      if (++*held > 1) throw std::runtime_error("cannot move");
    }
    std::shared_ptr<int> held;
  };
  auto moves = std::make_shared<int>(0);
  auto child = [](std::shared_ptr<int> of) -> task<heavy> { co_return heavy(of); };
  auto parent = [&]() -> task<bool> {
    try {
      auto value = co_await child(moves);
      co_return false;
    } catch (const std::runtime_error&) {
    }
    co_return true;
  };
  EXPECT_TRUE(sync_wait(parent()));
  EXPECT_EQ(moves.use_count(), 1);
}

TEST(task, is_awaited_once) {
  auto twice = []() -> task<int> {
    auto one = answer();
    const int first = co_await std::move(one);
    co_return first + co_await std::move(one);
  };
  EXPECT_DEATH(sync_wait(twice()), "a task is awaited or spawned once");
}

}  // namespace
