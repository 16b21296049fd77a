// tests/interop/callback_test.cpp: callbacks early, late, never, and from any thread.
#include "skua/interop/callback.hpp"

#include "skua/interop/from_callback.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/runtimes.hpp"
#include "support/tracked.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::abandonable_callback;
using skua::callback;
using skua::from_callback;
using skua::task;

class callbacks : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, callbacks, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(callbacks, may_come_before_the_call_that_starts_it_returns) {
  auto body = []() -> task<> {
    const int n = co_await from_callback<int>([](callback<int> done) { done(5); });
    EXPECT_EQ(n, 5);
    co_await from_callback<void>([](callback<> done) { done(); });
    const auto text = co_await from_callback<std::unique_ptr<std::string>>(
        [](const auto& done) { done(std::make_unique<std::string>("moved")); });
    EXPECT_EQ(*text, "moved");
  };
  start().block_on(body());
}

TEST_P(callbacks, may_come_from_any_thread) {
  auto body = []() -> task<> {
    for (int i = 0; i < 50; ++i) {
      std::thread helper;
      const int n = co_await from_callback<int>([&](callback<int> done) {
        helper = std::thread([done = std::move(done), i] { done(i); });
      });
      EXPECT_EQ(n, i);
      helper.join();
    }
  };
  start().block_on(body());
}

TEST_P(callbacks, go_through_interfaces_that_carry_a_pointer) {
  struct c_interface {
    static void begin(void (*then)(void*, int), void* what) { then(what, 7); }
  };
  auto body = []() -> task<> {
    const int n = co_await from_callback<int>([](callback<int> done) {
      const auto then = [](void* what, int given) { callback<int>::from_pointer(what)(given); };
      c_interface::begin(then, std::move(done).to_pointer());
    });
    EXPECT_EQ(n, 7);
  };
  start().block_on(body());
}

TEST_P(callbacks, that_fail_or_are_dropped_throw_in_the_task) {
  auto body = []() -> task<> {
    const auto fails = [](const callback<int>& done) {
      done.fail(std::make_exception_ptr(std::logic_error("failed")));
    };
    EXPECT_THROW(co_await from_callback<int>(fails), std::logic_error);
    const auto drops = [](const callback<int>&) {};
    EXPECT_THROW(co_await from_callback<int>(drops), std::runtime_error);
    const auto throws = [](const callback<int>&) { throw std::out_of_range("of start"); };
    EXPECT_THROW(co_await from_callback<int>(throws), std::out_of_range);
    const auto both = [](const callback<int>& done) {
      done(3);
      throw std::out_of_range("too late");
    };
    EXPECT_EQ(co_await from_callback<int>(both), 3);
  };
  start().block_on(body());
}

TEST_P(callbacks, of_a_start_that_throws_may_still_come) {
  auto body = []() -> task<> {
    std::optional<callback<int>> kept;
    const auto gives_away_and_throws = [&kept](const callback<int>& done) {
      kept = done;
      throw std::out_of_range("half way");
    };
    EXPECT_THROW(co_await from_callback<int>(gives_away_and_throws), std::out_of_range);
    (*kept)(3);
    kept.reset();
  };
  start().block_on(body());
}

/// A source that keeps what it was given.
struct source {
  std::optional<callback<int>> kept;
  std::atomic<bool> begun = false;
  std::atomic<int> asked = 0;

  void begin(callback<int> done) {
    kept = std::move(done);
    begun = true;
  }
};

TEST_P(callbacks, are_waited_for_by_a_task_that_is_stopped) {
  auto body = []() -> task<> {
    source from;
    int got = 0;
    auto waits = [](source& at, int& into) -> task<> {
      into = co_await from_callback<int>([&](callback<int> done) { at.begin(std::move(done)); });
      co_await skua::yield();
      into = -1;
    };
    auto handle = skua::spawn(waits(from, got));
    while (!from.begun) co_await skua::yield();
    handle.abort();
    for (int i = 0; i < 20; ++i) co_await skua::yield();
    EXPECT_FALSE(handle.done());
    (*from.kept)(9);
    const auto end = co_await handle.outcome();
    EXPECT_TRUE(end.stopped());
    EXPECT_EQ(got, 9);
  };
  start().block_on(body());
}

TEST_P(callbacks, of_a_source_that_can_be_asked_come_soon_after_a_stop) {
  auto body = []() -> task<> {
    source from;
    auto waits = [](source& at) -> task<> {
      const auto begin = [&](callback<int> done) { at.begin(std::move(done)); };
      const auto ask = [&]() noexcept {
        ++at.asked;
        (*at.kept)(-125);  // as if with ECANCELED
      };
      const int n = co_await from_callback<int>(begin, ask);
      EXPECT_EQ(n, -125);
      co_await skua::yield();
      ADD_FAILURE() << "it goes on";
    };
    auto handle = skua::spawn(waits(from));
    while (!from.begun) co_await skua::yield();
    handle.abort();
    const auto end = co_await handle.outcome();
    EXPECT_TRUE(end.stopped());
    EXPECT_EQ(from.asked, 1);
  };
  start().block_on(body());
}

TEST_P(callbacks, that_were_abandoned_may_come_late_or_never) {
  auto body = []() -> task<> {
    for (const bool comes_late : {true, false}) {
      source from;
      auto waits = [](source& at) -> task<int> {
        co_return co_await abandonable_callback<int>(
            [&](callback<int> done) { at.begin(std::move(done)); });
      };
      auto handle = skua::spawn(waits(from));
      while (!from.begun) co_await skua::yield();
      handle.abort();
      const auto end = co_await handle.outcome();
      EXPECT_TRUE(end.stopped());
      if (comes_late) (*from.kept)(4);
    }
  };
  start().block_on(body());
}

TEST_P(callbacks, and_stops_may_come_at_once) {
  const skua_test::budget time(0.2);
  auto rt = start();
  auto round = [](unsigned seed) -> task<> {
    std::vector<std::thread> helpers(8);
    std::vector<skua::join_handle<int>> handles;
    for (std::size_t i = 0; i < helpers.size(); ++i) {
      auto waits = [](std::thread& by, bool may_leave) -> task<int> {
        const auto begin = [&by](callback<int> done) {
          by = std::thread([done = std::move(done)] { done(1); });
        };
        if (may_leave) co_return co_await abandonable_callback<int>(begin);
        co_return co_await from_callback<int>(begin);
      };
      handles.push_back(skua::spawn(waits(helpers[i], (i + seed) % 2 == 0)));
    }
    co_await skua::yield();
    for (auto& each : handles) each.abort();
    for (auto& each : handles) {
      const auto end = co_await each.outcome();
      EXPECT_FALSE(end.has_exception());
    }
    for (auto& each : helpers)
      if (each.joinable()) each.join();
  };
  for (unsigned i = 0; time.left(); ++i) rt.block_on(round(i));
}

TEST(a_callback, that_is_called_twice_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto body = []() -> task<> {
    co_await from_callback<int>([](const callback<int>& done) {
      done(1);
      done(2);
    });
  };
  EXPECT_DEATH(skua::sync_wait(body()), "is called once");
}

}  // namespace
