// tests/runtime/block_on_test.cpp: a thread gets a tree of tasks run to its end, and its value.
#include "skua/coro/current_context.hpp"
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using skua::spawn;
using skua::task;
using skua_test::entry;
using skua_test::ledger;
using skua_test::shared_gate;

task<int> give(int value) {
  co_return value;
}

task<int> fail(const char* why) {
  throw std::runtime_error(why);
  co_return 0;
}

task<> hold_at(shared_gate& at, entry parameter) {
  co_await shared_gate::wait(at);
  EXPECT_TRUE(parameter.whole());
}

class block_on : public skua_test::for_each_kind {};

// What can be run.

TEST_P(block_on, gives_what_a_task_gives) {
  auto rt = start();
  int number = 3;
  const auto refers = [&]() -> task<int&> { co_return number; };
  const auto boxes = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); };
  const auto nothing = []() -> task<> { co_return; };
  static_assert(std::is_same_v<decltype(rt.block_on(refers())), int&>);
  static_assert(std::is_same_v<decltype(rt.block_on(give(1))), int>);
  static_assert(std::is_void_v<decltype(rt.block_on(nothing()))>);
  EXPECT_EQ(&rt.block_on(refers()), &number);
  EXPECT_EQ(*rt.block_on(boxes()), 4);
  rt.block_on(nothing());
}

TEST_P(block_on, rethrows_the_exception) {
  auto rt = start();
  try {
    static_cast<void>(rt.block_on(fail("why")));
    ADD_FAILURE() << "nothing thrown";
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "why");
  }
  EXPECT_EQ(log.size(), 0U);
}

TEST_P(block_on, throws_task_cancelled_if_the_root_was_stopped) {
  auto rt = start();
  const auto stops_itself = []() -> task<> {
    skua::context& own = co_await skua::current_context();
    own.request_stop();
    co_await skua::yield();
    ADD_FAILURE() << "went on";
  };
  EXPECT_THROW(rt.block_on(stops_itself()), skua::task_cancelled);
}

TEST_P(block_on, takes_callables_and_awaitables) {
  auto rt = start();
  EXPECT_EQ(rt.block_on([] { return 1; }), 1);
  EXPECT_EQ(rt.block_on([] { return give(2); }), 2);
  const auto named_callable = [] { return std::string("three"); };
  EXPECT_EQ(rt.block_on(named_callable), "three");
  EXPECT_EQ(rt.block_on([owned = std::make_unique<int>(4)] { return *owned; }), 4);
  rt.block_on([] {});
  EXPECT_THROW(rt.block_on([] { throw std::logic_error("five"); }), std::logic_error);
  EXPECT_EQ(rt.block_on(rt.spawn(give(6))), 6);
  EXPECT_EQ(rt.block_on(skua::spawn_blocking([](int value) { return value; }, 7)), 7);
  rt.block_on(std::suspend_never());
  rt.block_on(skua::yield());
}

TEST_P(block_on, gives_the_root_its_name) {
  auto rt = start();
  const auto finds_itself = [&] {
    const auto all = rt.tasks();
    return all.size() == 1 && all[0].name() == "root";
  };
  EXPECT_TRUE(rt.block_on(skua::named("root", finds_itself)));
  EXPECT_EQ(rt.block_on(skua::named("root", give(3))), 3);
  const auto cut = [&] { return std::string(rt.tasks().at(0).name()); };
  EXPECT_EQ(rt.block_on(skua::named("a name of more than 23 bytes", cut)),
            "a name of more than 23 ");
}

// Whom it waits for.

/// A tree whose parents end before their children.
task<> grow(std::atomic<int>& grown, int depth) {
  if (depth > 0)
    for (int i = 0; i < 3; ++i) spawn(grow(grown, depth - 1)).detach();
  for (int i = 0; i < 5; ++i) co_await skua::yield();
  ++grown;
}

TEST_P(block_on, waits_for_all_descendants) {
  auto rt = start();
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> grown = 0;
    rt.block_on(grow(grown, 5));
    EXPECT_EQ(grown, 1 + 3 + 9 + 27 + 81 + 243);
  }
}

TEST_P(block_on, waits_for_what_a_blocking_call_spawns) {
  auto rt = start();
  std::atomic<int> grown = 0;
  const auto calls = [&] { spawn(grow(grown, 2)).detach(); };
  rt.block_on(skua::spawn_blocking(calls));
  EXPECT_EQ(grown, 1 + 3 + 9);
}

TEST_P(block_on, waits_for_pinned_descendants) {
  auto rt = start();
  std::atomic<int> grown = 0;
  const auto pins = [&] { skua::spawn_local(grow(grown, 2)).detach(); };
  rt.block_on(pins);
  EXPECT_EQ(grown, 1 + 3 + 9);
}

TEST_P(block_on, does_not_wait_for_background_tasks_but_shutdown_does) {
  auto rt = start();
  shared_gate never;
  ledger frames;
  const auto spawns = [&] {
    skua::spawn_background(hold_at(never, entry(frames))).detach();
    skua::runtime_handle::current().spawn(hold_at(never, entry(frames))).detach();
  };
  rt.spawn(hold_at(never, entry(frames))).detach();
  rt.block_on(spawns);
  EXPECT_EQ(frames.ended, 0);
  EXPECT_EQ(rt.metrics().live, 3U);
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_TRUE(frames.balanced(3));
}

TEST_P(block_on, does_not_wait_for_the_children_of_background_tasks) {
  shared_gate never;
  ledger frames;
  auto rt = start();
  const auto parent = [&]() -> task<> {
    spawn(hold_at(never, entry(frames))).detach();
    co_return;
  };
  const auto script = [&]() -> task<> {
    co_await skua::spawn_background(parent);
    while (never.waiters() == 0) co_await skua::yield();
  };
  rt.block_on(script);
  EXPECT_EQ(frames.ended, 0);
}

TEST_P(block_on, stops_and_awaits_descendants_first_if_the_root_throws) {
  auto rt = start();
  shared_gate never;
  ledger frames;
  const auto fails = [&]() -> task<> {
    for (int i = 0; i < 20; ++i) spawn(hold_at(never, entry(frames))).detach();
    while (never.waiters() < 10) co_await skua::yield();
    throw std::runtime_error("after ten");
  };
  EXPECT_THROW(rt.block_on(fails), std::runtime_error);
  EXPECT_TRUE(frames.balanced(20)) << "nobody is left when it throws";
  EXPECT_EQ(rt.metrics().cancelled, 20U);
}

TEST_P(block_on, awaits_descendants_that_take_time_to_stop) {
  auto rt = start();
  std::atomic<int> cleaned_up = 0;
  shared_gate never;
  const auto slow = [&]() -> task<> {
    const auto how = co_await skua::as_outcome(shared_gate::wait(never));
    EXPECT_TRUE(how.stopped());
    const auto cleans = [&]() -> task<> {
      for (int i = 0; i < 50; ++i) co_await skua::yield();
      ++cleaned_up;
    };
    co_await skua::shielded(cleans());
  };
  const auto fails = [&]() -> task<> {
    for (int i = 0; i < 4; ++i) spawn(slow).detach();
    while (never.waiters() < 4) co_await skua::yield();
    throw std::runtime_error("now");
  };
  EXPECT_THROW(rt.block_on(fails), std::runtime_error);
  EXPECT_EQ(cleaned_up, 4);
}

TEST_P(block_on, stops_descendants_that_breed_while_it_stops_them) {
  auto rt = start();
  struct breeder {
    static task<> breed(std::atomic<int>& born) {
      if (++born > 0) spawn(breed(born)).detach();
      co_await skua::yield();
    }
  };
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> born = 0;
    const auto fails = [&]() -> task<> {
      for (int i = 0; i < 4; ++i) spawn(breeder::breed(born)).detach();
      while (born < 100) co_await skua::yield();
      throw std::runtime_error("enough");
    };
    EXPECT_THROW(rt.block_on(fails), std::runtime_error);
    EXPECT_EQ(rt.metrics().live, 0U);
  }
}

TEST_P(block_on, that_fails_does_not_stop_other_tasks_or_the_next_block_on) {
  auto rt = start();
  shared_gate at;
  ledger frames;
  auto background = rt.spawn(hold_at(at, entry(frames)));
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(static_cast<void>(rt.block_on(fail("again"))), std::runtime_error);
    const auto spawns = []() -> task<int> { co_return co_await spawn(give(5)); };
    EXPECT_EQ(rt.block_on(spawns), 5) << "its children are not born stopped";
  }
  EXPECT_FALSE(background.done());
  at.open();
  rt.block_on(std::move(background));
  EXPECT_TRUE(frames.balanced(1));
}

TEST_P(block_on, that_fails_does_not_stop_that_of_another_thread) {
  if (!multi()) GTEST_SKIP() << "one thread at a time";
  auto rt = start();
  shared_gate at;
  const auto waits = [&]() -> task<int> {
    co_await shared_gate::wait(at);
    co_return co_await spawn(give(8));
  };
  std::jthread other([&] { EXPECT_EQ(rt.block_on(waits), 8); });
  at.await_waiters();
  EXPECT_THROW(static_cast<void>(rt.block_on(fail("mine"))), std::runtime_error);
  EXPECT_EQ(at.waiters(), 1U);
  at.open();
}

TEST_P(block_on, of_sixteen_threads_at_once) {
  auto rt = start();
  std::atomic<int> sum = 0;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 16; ++i)
      callers.emplace_back([&, i] {
        for (int round = 0; round < 50; ++round) {
          const auto spawns = [i]() -> task<int> { co_return co_await spawn(give(i)); };
          try {
            EXPECT_EQ(rt.block_on(spawns), i);
            ++sum;
          } catch (const std::logic_error&) {
            ++refused;
          }
        }
      });
  }
  EXPECT_EQ(sum + refused, 16 * 50);
  if (multi()) {
    EXPECT_EQ(refused, 0);
  }
  EXPECT_EQ(rt.metrics().live, 0U);
  EXPECT_EQ(rt.metrics().spawned, 2U * static_cast<unsigned>(sum));
}

// wait_all

class wait_all : public skua_test::for_each_kind {};

TEST_P(wait_all, gives_a_tuple_of_the_values) {
  auto rt = start();
  const auto nothing = []() -> task<> { co_return; };
  auto got = rt.wait_all(
      give(1), nothing(), [] { return std::string("two"); },
      skua::spawn_blocking([] { return 3.0; }));
  static_assert(
      std::is_same_v<decltype(got), std::tuple<int, skua::no_value, std::string, double>>);
  EXPECT_EQ(std::get<0>(got), 1);
  EXPECT_EQ(std::get<2>(got), "two");
  EXPECT_EQ(std::get<3>(got), 3.0);
}

TEST_P(wait_all, of_one_gives_a_tuple_of_one) {
  auto rt = start();
  EXPECT_EQ(std::get<0>(rt.wait_all(give(1))), 1);
  const auto pairs = []() -> task<std::pair<int, char>> { co_return std::pair(1, 'x'); };
  EXPECT_TRUE((std::is_same_v<decltype(rt.wait_all(pairs())), std::tuple<std::pair<int, char>>>));
  const auto tuples = []() -> task<std::tuple<int>> { co_return std::tuple(1); };
  EXPECT_TRUE((std::is_same_v<decltype(rt.wait_all(tuples())), std::tuple<std::tuple<int>>>));
}

TEST_P(wait_all, gives_roots_their_names) {
  auto rt = start();
  shared_gate door;
  auto wait = [](shared_gate& at) -> task<> { co_await shared_gate::wait(at); };
  auto look = [](skua::runtime& of, shared_gate& at) -> task<std::set<std::string>> {
    while (at.waiters() < 2) co_await skua::yield();
    std::set<std::string> names;
    for (const skua::task_info& one : of.tasks()) names.emplace(one.name());
    at.open();
    co_return names;
  };
  const auto ends = rt.wait_all(skua::named("one", wait(door)), skua::named("other", wait(door)),
                                skua::named("looks", look(rt, door)));
  EXPECT_EQ(std::get<2>(ends), (std::set<std::string>{"one", "other", "looks"}));
}

TEST_P(wait_all, gives_the_very_object_of_a_reference) {
  auto rt = start();
  int object = 1;
  auto refer = [](int& to) -> task<int&> { co_return to; };
  auto [first, second] = rt.wait_all(refer(object), give(2));
  static_assert(std::same_as<decltype(first), int&>);
  EXPECT_EQ(&first, &object);
  EXPECT_EQ(second, 2);
}

TEST_P(wait_all, runs_its_tasks_beside_each_other) {
  auto rt = start();
  shared_gate first;
  shared_gate second;
  const auto waits = [](shared_gate& at, shared_gate& next) -> task<int> {
    co_await shared_gate::wait(at);
    next.open();
    co_return 1;
  };
  shared_gate last;
  const auto opens = [&]() -> task<int> {
    while (first.waiters() == 0 || second.waiters() == 0) co_await skua::yield();
    first.open();
    co_return 1;
  };
  const auto [a, b, c] = rt.wait_all(waits(second, last), waits(first, second), opens);
  EXPECT_EQ(a + b + c, 3);
}

TEST_P(wait_all, rethrows_the_first_exception_in_the_order_of_its_arguments) {
  auto rt = start();
  shared_gate second_failed;
  const auto fails_later = [&]() -> task<int> {
    co_await skua::shielded(shared_gate::wait(second_failed));
    throw std::runtime_error("first");
  };
  const auto fails_sooner = [&]() -> task<int> {
    while (second_failed.waiters() == 0) co_await skua::yield();
    second_failed.open();
    throw std::runtime_error("second");
  };
  try {
    rt.wait_all(give(0), fails_later, fails_sooner);
    ADD_FAILURE() << "nothing thrown";
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "first");
  }
  EXPECT_EQ(log.size(), 0U);
}

TEST_P(wait_all, stops_and_awaits_the_others_if_one_fails) {
  auto rt = start();
  shared_gate never;
  ledger frames;
  const auto parent = [&]() -> task<> {
    spawn(hold_at(never, entry(frames))).detach();
    co_await hold_at(never, entry(frames));
  };
  const auto fails = [&]() -> task<> {
    while (never.waiters() < 4) co_await skua::yield();
    throw std::runtime_error("the one");
  };
  try {
    rt.wait_all(parent, fails, parent);
    ADD_FAILURE() << "nothing thrown";
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "the one") << "not that the others were stopped";
  }
  EXPECT_TRUE(frames.balanced(4));
}

TEST_P(wait_all, stops_the_others_if_one_is_stopped) {
  auto rt = start();
  shared_gate never;
  ledger frames;
  const auto stops_itself = [&]() -> task<> {
    while (never.waiters() < 1) co_await skua::yield();
    skua::context& own = co_await skua::current_context();
    own.request_stop();
    co_await skua::yield();
  };
  EXPECT_THROW(rt.wait_all(stops_itself, hold_at(never, entry(frames))), skua::task_cancelled);
  EXPECT_TRUE(frames.balanced(1));
}

INSTANTIATE_TEST_SUITE_P(runtimes, block_on, skua_test::every_kind(), skua_test::name_of_kind);
INSTANTIATE_TEST_SUITE_P(runtimes, wait_all, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
