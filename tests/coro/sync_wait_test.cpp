// tests/coro/sync_wait_test.cpp: a plain thread runs a task and gets its result.
#include "skua/coro/sync_wait.hpp"

#include "skua/coro/current_context.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/task_cancelled.hpp"
#include "support/gate.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::sync_wait;
using skua::task;
using skua_test::gate;

/// A leaf that is completed by a thread of its own.
class other_thread final : public skua::leaf {
public:
  explicit other_thread(int value) noexcept : value_(value) {}
  ~other_thread() { thread_.join(); }
  int await_resume() const noexcept { return value_; }

private:
  void start() noexcept override {
    thread_ = std::thread([this] {
      std::this_thread::yield();
      complete();
    });
  }
  skua::cancel_answer cancel() noexcept override { return skua::cancel_answer::pending; }

  int value_;
  std::thread thread_;
};

/// An awaitable that knows nothing of skua and resumes the coroutine on a thread of its own.
class foreign_thread {
public:
  explicit foreign_thread(std::thread& runs_on) noexcept : thread_(runs_on) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    thread_ = std::thread([waiting] { waiting.resume(); });
  }
  std::thread::id await_resume() const noexcept { return thread_.get_id(); }

private:
  std::thread& thread_;
};

task<int> sum_over_threads(int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await other_thread(i);
  co_return sum;
}

TEST(sync_wait, gives_the_value) {
  auto answer = []() -> task<int> { co_return 42; };
  EXPECT_EQ(sync_wait(answer()), 42);
  auto kept = answer();
  EXPECT_EQ(sync_wait(std::move(kept)), 42);
  EXPECT_FALSE(kept.valid());  // NOLINT(bugprone-use-after-move): that is the question
}

TEST(sync_wait, gives_the_very_object_of_a_reference) {
  int number = 1;
  auto refer = [](int& to) -> task<int&> { co_return to; };
  static_assert(std::is_same_v<decltype(sync_wait(refer(number))), int&>);
  EXPECT_EQ(&sync_wait(refer(number)), &number);
}

TEST(sync_wait, gives_nothing_for_nothing) {
  bool ran = false;
  auto run = [&]() -> task<> {
    ran = true;
    co_return;
  };
  static_assert(std::is_void_v<decltype(sync_wait(run()))>);
  sync_wait(run());
  EXPECT_TRUE(ran);
}

TEST(sync_wait, gives_a_value_that_can_only_be_moved) {
  auto boxed = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
  EXPECT_EQ(*sync_wait(boxed()), 7);
}

TEST(sync_wait, rethrows_the_exception) {
  auto fails = []() -> task<int> {
    throw std::runtime_error("no answer");
    co_return 0;
  };
  try {
    (void)sync_wait(fails());
    FAIL() << "nothing thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no answer");
  }
}

TEST(sync_wait, throws_task_cancelled_if_the_task_was_stopped) {
  bool unwound = false;
  struct at_end {
    explicit at_end(bool& set) : flag(set) {}
    at_end(const at_end&) = delete;
    at_end& operator=(const at_end&) = delete;
    ~at_end() { flag = true; }
    bool& flag;
  };
  gate never;
  auto stops_itself = [&]() -> task<int> {
    const at_end local(unwound);
    skua::context& own = co_await skua::current_context();
    own.request_stop();
    co_return co_await gate::wait(never);
  };
  EXPECT_THROW((void)sync_wait(stops_itself()), skua::task_cancelled);
  EXPECT_TRUE(unwound);
}

TEST(sync_wait, ends_the_frame_before_it_returns) {
  auto owned = std::make_shared<int>(1);
  auto keep = [](std::shared_ptr<int> held) -> task<int> { co_return *held; };
  EXPECT_EQ(sync_wait(keep(owned)), 1);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(sync_wait, takes_a_leaf_directly) {
  gate at;
  at.opens_at_start = true;
  EXPECT_EQ(sync_wait(gate::wait(at)), 0);
  EXPECT_EQ(sync_wait(other_thread(5)), 5);
}

TEST(sync_wait, takes_a_foreign_awaitable_directly) {
  std::thread runs_on;
  EXPECT_NE(sync_wait(foreign_thread(runs_on)), std::this_thread::get_id());
  runs_on.join();
  sync_wait(std::suspend_never());
}

TEST(sync_wait, resumes_on_the_waiting_thread) {
  const auto here = std::this_thread::get_id();
  std::thread runs_on;
  auto hops = [&]() -> task<> {
    EXPECT_EQ(std::this_thread::get_id(), here);
    for (int i = 0; i < 10; ++i) {
      const std::thread::id there = co_await foreign_thread(runs_on);
      EXPECT_NE(there, here);
      EXPECT_EQ(std::this_thread::get_id(), here);
      runs_on.join();
      (void)co_await other_thread(1);
      EXPECT_EQ(std::this_thread::get_id(), here);
    }
  };
  sync_wait(hops());
}

TEST(sync_wait, works_on_many_threads_at_once) {
  constexpr int threads = 8;
  constexpr int rounds = 50;
  std::vector<int> sums(threads);
  {
    std::vector<std::jthread> waiting;
    for (int& sum : sums)
      waiting.emplace_back([&sum] { sum = sync_wait(sum_over_threads(rounds)); });
  }
  for (const int sum : sums) EXPECT_EQ(sum, rounds * (rounds - 1) / 2);
}

TEST(sync_wait, works_in_a_plain_callback_while_another_thread_waits_for_it) {
  // The outer task waits for a thread that itself waits for a task of its own.
  class nested final : public skua::leaf {
  public:
    nested() = default;
    ~nested() { thread_.join(); }
    int await_resume() const noexcept { return sum_; }

  private:
    void start() noexcept override {
      thread_ = std::thread([this] {
        sum_ = sync_wait(sum_over_threads(3));
        complete();
      });
    }
    skua::cancel_answer cancel() noexcept override { return skua::cancel_answer::pending; }
    std::thread thread_;
    int sum_ = 0;
  };
  auto outer = []() -> task<int> {
    const int inner = co_await nested();
    co_return inner * 10;
  };
  EXPECT_EQ(sync_wait(outer()), 30);
}

TEST(sync_wait, leaks_nothing_if_the_value_cannot_be_moved_out) {
  struct heavy {
    explicit heavy(std::shared_ptr<int> of) : held(std::move(of)) {}
    // NOLINTNEXTLINE(bugprone-exception-escape): it is to throw
    heavy(heavy&& from) : held(from.held) {
      if (++*held > 1) throw std::runtime_error("cannot move");
    }
    heavy& operator=(const heavy&) = delete;
    ~heavy() = default;
    std::shared_ptr<int> held;
  };
  auto moves = std::make_shared<int>(0);
  auto make = [](std::shared_ptr<int> of) -> task<heavy> { co_return heavy(std::move(of)); };
  EXPECT_THROW((void)sync_wait(make(moves)), std::runtime_error);
  EXPECT_EQ(moves.use_count(), 1);
}

}  // namespace
