// tests/interop/seams_test.cpp: post, submit, run_on and from_future: in and out of a runtime.
#include "skua/interop/from_future.hpp"
#include "skua/interop/post.hpp"
#include "skua/interop/run_on.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <coroutine>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using skua::task;
using skua_test::shared_gate;

class seams : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, seams, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(seams, post_runs_a_function_on_a_worker) {
  shared_gate gate;  // first: what is posted may still be at it when the task has gone through
  auto rt = start();
  auto opens = [](std::unique_ptr<int> with, shared_gate& it) {
    it.open(static_cast<std::uint64_t>(*with));
  };
  skua::post(rt.get_handle(), opens, std::make_unique<int>(4), std::ref(gate));
  auto body = [](shared_gate& at) -> task<> {
    const auto given = co_await shared_gate::wait(at);
    EXPECT_EQ(given, 4U);
    std::atomic<bool> ran = false;
    auto sets = [](std::atomic<bool>& it) { it = true; };
    skua::post(sets, std::ref(ran));
    while (!ran) co_await skua::yield();
  };
  rt.block_on(body(gate));
}

TEST_P(seams, post_to_a_runtime_that_has_ended_destroys_what_it_got) {
  auto rt = start();
  rt.shutdown();
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  auto never = [](const std::shared_ptr<int>&) { ADD_FAILURE() << "it runs"; };
  skua::post(rt.get_handle(), never, std::move(held));
  EXPECT_TRUE(watch.expired());
  EXPECT_THROW(skua::post(never, nullptr), std::logic_error);
}

/// A coroutine of another make.
struct foreign {
  struct promise_type {
    foreign get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> frame;
};
foreign counts(int& turns) {
  ++turns;
  co_await std::suspend_always();
  ++turns;
}

TEST_P(seams, submit_resumes_a_bare_coroutine_once) {
  auto rt = start();
  int turns = 0;
  const foreign one = counts(turns);
  auto body = [](const skua::runtime::handle& in, std::coroutine_handle<> it, int& n) -> task<> {
    co_await skua::submit(in, it);
    EXPECT_EQ(n, 1);
    co_await skua::submit(in, it);
    EXPECT_EQ(n, 2);
  };
  rt.block_on(body(rt.get_handle(), one.frame, turns));
  EXPECT_TRUE(one.frame.done());
  rt.shutdown();
  EXPECT_TRUE(skua::submit(rt.get_handle(), one.frame).done());
  one.frame.destroy();
}

std::thread::id here() {
  return std::this_thread::get_id();
}

TEST_P(seams, run_on_runs_a_task_on_another_runtime_and_comes_back) {
  auto mine = start();
  auto other = skua_test::started(skua_test::one_worker.settings());
  auto body = [](const skua::runtime::handle& there) -> task<> {
    auto where = []() -> task<std::thread::id> {
      co_await skua::yield();
      co_return here();
    };
    const auto first = co_await skua::run_on(there, where());
    const auto second = co_await skua::run_on(there, where());
    EXPECT_EQ(first, second);
    EXPECT_NE(first, here());
    auto fails = []() -> task<> {
      throw std::runtime_error("over there");
      co_return;
    };
    EXPECT_THROW(co_await skua::run_on(there, fails()), std::runtime_error);
    auto plain = [] { return 5; };
    EXPECT_EQ(co_await skua::run_on(there, plain), 5);
  };
  mine.block_on(body(other.get_handle()));
  other.shutdown();
  auto refused = [](const skua::runtime::handle& there) -> task<> {
    auto plain = [] { return 5; };
    EXPECT_THROW(co_await skua::run_on(there, plain), skua::task_cancelled);
  };
  mine.block_on(refused(other.get_handle()));
}

TEST_P(seams, run_on_stops_what_runs_over_there_and_waits_for_it) {
  auto mine = start();
  auto other = skua_test::started(skua_test::one_worker.settings());
  auto body = [](const skua::runtime::handle& there) -> task<> {
    shared_gate gate;
    std::atomic<bool> gone = false;
    auto waits = [](shared_gate& at, std::atomic<bool>& over) -> task<> {
      struct says {
        std::atomic<bool>& it;
        ~says() { it = true; }
      };
      const says so{over};
      co_await shared_gate::wait(at);
    };
    auto handle = skua::spawn(skua::run_on(there, waits(gate, gone)));
    while (gate.waiters() == 0) co_await skua::yield();
    handle.abort();
    const auto end = co_await handle.outcome();
    EXPECT_TRUE(end.stopped());
    EXPECT_TRUE(gone);
    EXPECT_EQ(gate.cancels(), 1U);
  };
  mine.block_on(body(other.get_handle()));
}

TEST_P(seams, from_future_gives_what_the_future_holds) {
  auto body = []() -> task<> {
    std::promise<std::string> text;
    auto later = skua::spawn(skua::from_future(text.get_future()));
    co_await skua::yield();
    text.set_value("kept");
    EXPECT_EQ(co_await std::move(later), "kept");

    std::promise<void> broken;
    auto failed = broken.get_future();
    broken.set_exception(std::make_exception_ptr(std::out_of_range("thrown")));
    EXPECT_THROW(co_await skua::from_future(failed), std::out_of_range);

    const auto worker = here();
    auto deferred = std::async(std::launch::deferred, here);
    EXPECT_NE(co_await skua::from_future(std::move(deferred)), worker);

    std::promise<int> number;
    const std::shared_future<int> shared = number.get_future().share();
    number.set_value(3);
    EXPECT_EQ(co_await skua::from_future(shared), 3);
    EXPECT_EQ(co_await skua::from_future(shared), 3);
  };
  start().block_on(body());
}

TEST_P(seams, from_future_lets_go_of_a_future_when_it_is_stopped) {
  auto body = []() -> task<> {
    std::promise<int> never;
    auto future = never.get_future();
    auto handle = skua::spawn(skua::from_future(future));
    for (int i = 0; i < 10; ++i) co_await skua::yield();
    handle.abort();
    const auto end = co_await handle.outcome();
    EXPECT_TRUE(end.stopped());
    never.set_value(8);
    EXPECT_EQ(co_await skua::from_future(future), 8);
  };
  start().block_on(body());
}

}  // namespace
