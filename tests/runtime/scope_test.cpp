// tests/runtime/scope_test.cpp: children run in parallel, and none outlives its scope.
#include "skua/runtime/scope.hpp"

#include "skua/runtime/with_scope.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::scope;
using skua::scope_policy;
using skua::spawn;
using skua::task;
using skua::with_scope;

class runtime_scope : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, runtime_scope, skua_test::every_kind(), skua_test::name_of_kind);

/// Counts those that are inside.
class inside {
public:
  explicit inside(std::atomic<int>& count) : count_(count) { ++count_; }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  ~inside() { --count_; }

private:
  std::atomic<int>& count_;
};

task<> add_one(std::atomic<int>& sum) {
  ++sum;
  co_return;
}
task<> for_ever(std::atomic<int>& here) {
  const inside now(here);
  co_await skua::sleep(1h);
}
task<> fail(const char* why) {
  co_await skua::yield();
  throw std::runtime_error(why);
}

TEST_P(runtime_scope, waits_for_all_children_and_gives_what_its_function_gives) {
  auto rt = start();
  auto fill = [](scope& children, std::atomic<int>& sum) -> task<int> {
    for (int i = 0; i < 100; ++i) children.spawn(add_one(sum));
    co_return 7;
  };
  auto body = [&fill]() -> task<int> {
    std::atomic<int> sum = 0;
    const int seven = co_await with_scope(fill, std::ref(sum));
    EXPECT_EQ(sum, 100);
    co_return seven;
  };
  EXPECT_EQ(rt.block_on(body()), 7);
}

TEST_P(runtime_scope, may_have_no_children) {
  auto rt = start();
  auto nothing = [](scope&) -> task<> { co_return; };
  auto body = [&nothing]() -> task<> { co_await with_scope(nothing); };
  rt.block_on(body());
}

task<> spawn_a_tree(scope& children, int depth, std::atomic<int>& sum) {
  ++sum;
  if (depth == 0) co_return;
  children.spawn(spawn_a_tree, std::ref(children), depth - 1, std::ref(sum));
  children.spawn(spawn_a_tree, std::ref(children), depth - 1, std::ref(sum));
}

TEST_P(runtime_scope, children_may_spawn_more_of_them) {
  auto rt = start();
  auto body = []() -> task<> {
    std::atomic<int> sum = 0;
    co_await with_scope(spawn_a_tree, 9, std::ref(sum));
    EXPECT_EQ(sum, 1'023);
  };
  rt.block_on(body());
}

TEST_P(runtime_scope, the_first_failure_stops_the_others_and_is_rethrown) {
  auto rt = start();
  auto fill = [](scope& children, std::atomic<int>& here) -> task<> {
    for (int i = 0; i < 10; ++i) children.spawn(for_ever(here));
    co_await skua::yield();
    children.spawn(fail("first"));
    co_await skua::sleep(1h);  // the function is stopped as well
  };
  auto body = [&fill]() -> task<> {
    std::atomic<int> here = 0;
    std::string what;
    try {
      co_await with_scope(fill, std::ref(here));
    } catch (const std::runtime_error& thrown) {
      what = thrown.what();
    }
    EXPECT_EQ(what, "first");
    EXPECT_EQ(here, 0) << "nobody is inside any more";
  };
  rt.block_on(body());
}

TEST_P(runtime_scope, a_function_that_throws_stops_the_children) {
  auto rt = start();
  auto fill = [](scope& children, std::atomic<int>& here) -> task<> {
    for (int i = 0; i < 10; ++i) children.spawn(for_ever(here));
    co_await skua::yield();
    throw std::runtime_error("no");
  };
  auto body = [&fill]() -> task<> {
    std::atomic<int> here = 0;
    EXPECT_TRUE((co_await skua::as_outcome(with_scope(fill, std::ref(here)))).has_exception());
    EXPECT_EQ(here, 0);
  };
  rt.block_on(body());
}

TEST_P(runtime_scope, that_waits_for_all_tells_of_all_failures) {
  auto rt = start();
  auto fill = [](scope& children, std::atomic<int>& sum) -> task<> {
    children.spawn(fail("one"));
    children.spawn(fail("two"));
    for (int i = 0; i < 10; ++i) children.spawn(add_one(sum));
    co_return;
  };
  auto body = [&fill]() -> task<> {
    std::atomic<int> sum = 0;
    std::size_t failed = 0;
    try {
      co_await with_scope(scope_policy::wait_for_all, fill, std::ref(sum));
    } catch (const skua::scope_failed& thrown) {
      failed = thrown.causes().size();
    }
    EXPECT_EQ(failed, 2U);
    EXPECT_EQ(sum, 10);
  };
  rt.block_on(body());
}

TEST_P(runtime_scope, a_stop_of_its_children_is_no_failure) {
  auto rt = start();
  auto fill = [](scope& children, std::atomic<int>& here) -> task<> {
    for (int i = 0; i < 10; ++i) children.spawn(for_ever(here));
    co_await skua::yield();
    children.stop();
    children.spawn(for_ever(here));  // born stopped
  };
  auto body = [&fill]() -> task<> {
    std::atomic<int> here = 0;
    co_await with_scope(fill, std::ref(here));
    EXPECT_EQ(here, 0);
  };
  rt.block_on(body());
}

task<> hold_children(std::atomic<int>& here, bool& reached) {
  auto fill = [](scope& children, std::atomic<int>& count) -> task<> {
    for (int i = 0; i < 10; ++i) children.spawn(for_ever(count));
    co_return;
  };
  co_await with_scope(fill, std::ref(here));
  reached = true;
}

TEST_P(runtime_scope, a_stop_of_the_task_stops_the_children_and_waits_for_them) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int turns = 0; turns < 20; ++turns) {
      std::atomic<int> here = 0;
      bool reached = false;
      auto holder = spawn(hold_children(here, reached));
      for (int i = 0; i < turns; ++i) co_await skua::yield();
      holder.abort();
      EXPECT_TRUE((co_await holder.outcome()).stopped());
      EXPECT_EQ(here, 0);
      EXPECT_FALSE(reached);
    }
  };
  rt.block_on(body());
}

task<> for_a_moment() {
  for (int i = 0; i < 3; ++i) co_await skua::yield();
}

TEST_P(runtime_scope, that_loses_a_race_is_waited_for) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 20; ++i) {
      std::atomic<int> here = 0;
      bool reached = false;
      co_await skua::race(hold_children(here, reached), for_a_moment());
      EXPECT_EQ(here, 0);
      EXPECT_FALSE(reached);
    }
  };
  rt.block_on(body());
}

// A callback of the user's runs while children are asked to stop: it may use the scope itself.
TEST_P(runtime_scope, who_hears_of_the_stop_may_use_the_scope) {
  auto rt = start();
  auto listen = [](scope& children, std::atomic<int>& heard) -> task<> {
    const std::stop_token token = co_await skua::current_stop_token();
    auto hear = [&children, &heard] {
      heard += static_cast<int>(children.running());
      children.stop();
    };
    const std::stop_callback callback(token, hear);
    co_await skua::sleep(1h);
  };
  auto fill = [&listen](scope& children, std::atomic<int>& heard) -> task<> {
    children.spawn(listen, std::ref(children), std::ref(heard));
    for (int i = 0; i < 5; ++i) co_await skua::yield();
    children.stop();
  };
  auto body = [&fill]() -> task<> {
    std::atomic<int> heard = 0;
    co_await with_scope(fill, std::ref(heard));
    EXPECT_LE(heard, 1);
  };
  rt.block_on(body());
}

TEST(scope, outside_a_runtime_spawning_says_so) {
  auto fill = [](scope& children) -> task<> {
    auto nothing = []() -> task<> { co_return; };
    children.spawn(nothing());
    co_return;
  };
  EXPECT_THROW(skua::sync_wait(with_scope(fill)), std::logic_error);
}

// --- at random

task<> random_tree(scope& children, std::uint64_t seed, int depth, std::atomic<int>& here) {
  const inside now(here);
  std::minstd_rand random(static_cast<unsigned>(seed));
  for (int i = 0; depth > 0 && i < 3; ++i)
    children.spawn(random_tree, std::ref(children), random(), depth - 1, std::ref(here));
  switch (random() % 16) {
    case 0:
      throw std::runtime_error("at random");
    case 1:
      children.stop();
      break;
    case 2:
    case 3:
      co_await skua::sleep(1h);
      break;
    default:
      for (auto i = random() % 4; i > 0; --i) co_await skua::yield();
  }
}

task<> random_scope(std::uint64_t seed, std::atomic<int>& here) {
  co_await with_scope(seed % 2 == 0 ? scope_policy::stop_at_failure : scope_policy::wait_for_all,
                      random_tree, seed, 3, std::ref(here));
}

task<> random_scopes(std::uint64_t seed) {
  std::minstd_rand random(static_cast<unsigned>(seed));
  std::atomic<int> here = 0;
  auto one = spawn(random_scope(random(), here));
  for (auto i = random() % 40; i > 0; --i) co_await skua::yield();
  one.abort();  // if some of them sleep on
  static_cast<void>(co_await one.outcome());
  EXPECT_EQ(here, 0);
}

TEST(scope, at_random_leaves_nobody_behind) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::minstd_rand random(seed);
  for (const std::size_t workers : {2U, 8U}) {
    auto rt = skua_test::started(skua_test::kind{skua::flavour::multi_thread, workers}.settings());
    const skua_test::budget time(0.5);
    while (time.left()) rt.block_on(random_scopes(random()));
  }
}

}  // namespace
