// tests/runtime/thread_per_core_test.cpp: tasks stay where they were placed, and messages arrive.
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/event.hpp"
#include "support/ledger.hpp"
#include "support/open_fds.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::task;
using skua::this_worker;
using skua_test::entry;
using skua_test::event;
using skua_test::ledger;
using skua_test::shared_gate;

constexpr skua_test::kind three_cores = {skua::flavour::thread_per_core, 3};

skua::runtime started(std::size_t workers = 3) {
  skua::config settings;
  settings.flavour = skua::flavour::thread_per_core;
  settings.workers = workers;
  return skua_test::started(settings);
}

task<std::size_t> where() {
  co_return this_worker().value();
}

TEST(thread_per_core, task_stays_on_its_thread_whatever_wakes_it) {
  auto rt = started();
  shared_gate gate;
  const auto wanders = [&](std::size_t home) -> task<int> {
    const std::thread::id thread = std::this_thread::get_id();
    int strayed = 0;
    const auto look = [&] {
      if (this_worker() != home || std::this_thread::get_id() != thread) ++strayed;
    };
    for (int i = 0; i < 20; ++i) {
      co_await skua::yield();
      look();
      co_await skua::sleep(50us);
      look();
      co_await skua::spawn_blocking([] {});
      look();
      co_await skua::run_on((home + 1) % 3, where);
      look();
      co_await shared_gate::wait(gate);  // opened by a thread that is no worker
      look();
    }
    co_return strayed;
  };
  std::vector<skua::join_handle<int>> all;
  for (std::size_t i = 0; i < 9; ++i) all.push_back(rt.spawn_on(i % 3, skua::call(wanders, i % 3)));
  const std::jthread opens([&] {
    for (int opened = 0; opened < 9 * 20; ++opened) {
      gate.await_waiters();
      gate.open_one();
    }
  });
  for (auto& one : all) EXPECT_EQ(skua::sync_wait(std::move(one)), 0);
}

TEST(thread_per_core, children_stay_with_their_parent_and_roots_go_to_each_in_turn) {
  auto rt = started();
  const auto with_children = []() -> task<std::set<std::size_t>> {
    std::set<std::size_t> seen{this_worker().value()};
    for (int i = 0; i < 10; ++i) {
      seen.insert(co_await skua::spawn(where));
      seen.insert(co_await skua::spawn_local(where));
    }
    co_await skua::spawn_blocking([&] { seen.insert(skua::sync_wait(skua::spawn(where))); });
    co_return seen;
  };
  std::vector<int> roots(3);
  for (int i = 0; i < 6; ++i) {
    const std::set<std::size_t> seen = rt.block_on(with_children);
    ASSERT_EQ(seen.size(), 1U);
    ++roots[*seen.begin()];
  }
  EXPECT_EQ(roots, std::vector<int>(3, 2));
}

TEST(thread_per_core, messages_of_one_sender_arrive_in_their_order) {
  auto rt = started(2);
  std::vector<int> arrived;  // touched on worker 1 only
  const auto sends = [&]() -> task<> {
    for (int i = 0; i < 1'000; ++i)
      skua::spawn_on(1, [&arrived, i] { arrived.push_back(i); }).detach();
    co_return;
  };
  rt.block_on(skua::call([&]() -> task<> { co_await skua::run_on(0, sends); }));
  ASSERT_EQ(arrived.size(), 1'000U);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(arrived[static_cast<std::size_t>(i)], i);
}

TEST(thread_per_core, run_on_gives_the_value_the_reference_and_the_exception) {
  auto rt = started();
  int there = 7;
  const auto asks = [&]() -> task<> {
    EXPECT_EQ(co_await skua::run_on(2, [](int a, int b) { return a + b; }, 40, 2), 42);
    EXPECT_EQ(co_await skua::run_on(1, where), 1U);
    const auto gives = [&]() -> int& { return there; };
    int& same = co_await skua::run_on(2, gives);
    EXPECT_EQ(&same, &there);
    const auto fails = []() -> task<> {
      throw std::runtime_error("over there");
      co_return;
    };
    bool caught = false;
    try {
      co_await skua::run_on(2, fails);
    } catch (const std::runtime_error& thrown) {
      caught = std::string(thrown.what()) == "over there";
    }
    EXPECT_TRUE(caught);
  };
  rt.block_on(asks);
}

TEST(thread_per_core, call_on_another_worker_is_stopped_with_its_caller) {
  auto rt = started(2);
  ledger frames;
  shared_gate never;
  const auto waits = [&](entry parameter) -> task<> {
    co_await shared_gate::wait(never);
    EXPECT_TRUE(parameter.whole());
  };
  const auto asks = [&]() -> task<> { co_await skua::run_on(1, waits, entry(frames)); };
  auto asking = rt.spawn_on(0, asks);
  never.await_waiters();
  asking.abort();
  EXPECT_TRUE(skua::sync_wait(asking.outcome()).stopped());
  EXPECT_EQ(never.cancels(), 1U);
  EXPECT_TRUE(frames.balanced(1));
}

TEST(thread_per_core, on_each_worker_runs_once_on_each) {
  auto rt = started();
  std::vector<std::atomic<int>> times(3);
  const auto notes = [&](int by) -> task<> {
    co_await skua::yield();
    times[this_worker().value()] += by;
  };
  rt.block_on(skua::call([&]() -> task<> { co_await skua::on_each_worker(notes, 5); }));
  for (const auto& one : times) EXPECT_EQ(one, 5);
}

TEST(thread_per_core, failure_on_one_worker_stops_what_runs_on_the_others) {
  auto rt = started();
  shared_gate never;
  const auto fails_on_two = [&]() -> task<> {
    if (this_worker() == 2U) {
      while (never.waiters() < 2) co_await skua::yield();
      throw std::runtime_error("two");
    }
    co_await shared_gate::wait(never);
  };
  const auto all = [&]() -> task<> { co_await skua::on_each_worker(fails_on_two); };
  EXPECT_THROW(rt.block_on(all), std::runtime_error);
  EXPECT_EQ(never.cancels(), 2U);
}

class worker_that_does_not_exist : public skua_test::for_each_kind {};

TEST_P(worker_that_does_not_exist, is_an_error_and_nothing_is_lost) {
  auto rt = start();
  ledger frames;
  const auto runs = [](entry parameter) { EXPECT_TRUE(parameter.whole()); };
  const std::size_t beyond = GetParam().workers;
  EXPECT_EQ(rt.workers(), beyond);
  EXPECT_THROW(rt.spawn_on(beyond, skua::call(runs, entry(frames))), std::out_of_range);
  const auto inside = [&]() -> task<> {
    EXPECT_EQ(skua::worker_count(), beyond);
    try {
      skua::spawn_on(beyond + 7, skua::call(runs, entry(frames))).detach();
      ADD_FAILURE() << "spawned";
    } catch (const std::out_of_range& thrown) {
      EXPECT_EQ(std::string(thrown.what()), "skua::spawn_on: there is no worker " +
                                                std::to_string(beyond + 7) +
                                                " of a runtime that has " + std::to_string(beyond));
    }
    bool refused = false;
    try {
      co_await skua::run_on(beyond, runs, entry(frames));
    } catch (const std::out_of_range&) {
      refused = true;
    }
    EXPECT_TRUE(refused);
    co_await skua::spawn_on(beyond - 1, skua::call(runs, entry(frames)));
  };
  rt.block_on(inside);
  EXPECT_TRUE(frames.balanced(4));
  EXPECT_EQ(rt.metrics().live, 0U);
}

INSTANTIATE_TEST_SUITE_P(runtimes, worker_that_does_not_exist, skua_test::every_kind(),
                         skua_test::name_of_kind);

class spawned_on : public skua_test::for_each_kind {};

TEST_P(spawned_on, a_worker_stays_there_in_every_flavour) {
  auto rt = start();
  const auto looks = [](std::size_t home) -> task<int> {
    int strayed = 0;
    for (int i = 0; i < 50; ++i) {
      if (this_worker() != home) ++strayed;
      if (i % 10 == 0)
        co_await skua::sleep(20us);
      else
        co_await skua::yield();
    }
    co_return strayed;
  };
  const auto on_all = [&]() -> task<int> {
    int strayed = 0;
    std::vector<skua::join_handle<int>> all;
    for (std::size_t i = 0; i < skua::worker_count(); ++i)
      all.push_back(skua::spawn_on(i, skua::call(looks, i)));
    for (auto& one : all) strayed += co_await std::move(one);
    co_return strayed;
  };
  EXPECT_EQ(rt.block_on(on_all), 0);
}

INSTANTIATE_TEST_SUITE_P(runtimes, spawned_on, skua_test::every_kind(), skua_test::name_of_kind);

TEST(thread_per_core, does_not_lend_its_workers) {
  auto rt = started(1);
  const auto blocks = []() -> task<> {
    EXPECT_THROW(skua::block_in_place([] {}), std::logic_error);
    co_return;
  };
  rt.block_on(blocks);
}

TEST(thread_per_core, rings_are_their_workers_alone) {
  auto rt = started(2);
  if (rt.driver_info().used != skua::backend::uring) GTEST_SKIP() << "no ring here";
  EXPECT_TRUE(rt.driver_info().ring_of_one_thread) << "Linux 6.1 or later has them";
  auto other = skua_test::started(skua_test::two_workers.settings());
  EXPECT_FALSE(other.driver_info().ring_of_one_thread);
}

/// More than a ring has room for, from a thread that may not enter it.
TEST(thread_per_core, operations_of_a_blocking_call_go_through_a_workers_ring) {
  skua::config settings = three_cores.settings();
  settings.ring_submissions = 2;
  settings.ring_completions = 4;
  auto rt = skua_test::started(settings);
  if (rt.driver_info().used == skua::backend::none) GTEST_SKIP() << "no I/O here";
  const auto many = [] {
    for (int i = 0; i < 20; ++i) {
      const auto reads = []() -> task<> {
        auto ends = skua::or_throw(skua::io::pipe());
        std::byte out[1] = {};
        std::byte in[1] = {};
        const auto both = co_await skua::when_all(ends.writer.write(out), ends.reader.read(in));
        EXPECT_EQ(std::get<1>(both).value_or(0), 1U);
      };
      skua::sync_wait(skua::when_all(reads(), reads(), reads(), reads()));
    }
  };
  const auto asks = [&]() -> task<> { co_await skua::spawn_blocking(many); };
  rt.block_on(asks);
}

TEST(thread_per_core, leaves_no_descriptor_and_no_task_behind) {
  {
    auto first = started(1);
  }
  const std::size_t before = skua_test::open_fds();
  for (int i = 0; i < 20; ++i) {
    auto rt = started(3);
    rt.spawn([]() -> task<> { co_await skua::sleep(1h); }).detach();
    EXPECT_TRUE(rt.shutdown().complete());
  }
  EXPECT_EQ(skua_test::open_fds(), before);
}

/// While it is busy, and with nobody to steal: what it was sent waits, and nothing is lost.
TEST(thread_per_core, tasks_of_a_stuck_worker_wait_for_it) {
  auto rt = started(2);
  event busy;
  event go_on;
  auto stuck = rt.spawn_on(0, skua::call([&] {
                             busy.set();
                             go_on.wait();
                           }));
  busy.wait();
  auto waits = rt.spawn_on(0, where);
  EXPECT_EQ(skua::sync_wait(rt.spawn_on(1, where)), 1U) << "the other goes on";
  EXPECT_FALSE(waits.done());
  EXPECT_EQ(rt.metrics().inject_depth, 1U);
  go_on.set();
  EXPECT_EQ(skua::sync_wait(std::move(waits)), 0U);
  skua::sync_wait(std::move(stuck));
}

TEST(thread_per_core, try_spawn_refuses_while_the_inboxes_are_full) {
  skua::config settings = three_cores.settings();
  settings.workers = 2;
  settings.spawn_queue_limit = 4;
  auto rt = skua_test::started(settings);
  event busy;
  event go_on;
  const auto blocks = [&] {
    busy.set();
    go_on.wait();
  };
  for (std::size_t i = 0; i < 2; ++i) rt.spawn_on(i, skua::call(blocks)).detach();
  busy.wait(2);
  for (int i = 0; i < 4; ++i) rt.spawn(where).detach();
  const auto refused = rt.try_spawn(where);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(), skua::errc::limit_exceeded);
  go_on.set();
  EXPECT_TRUE(rt.drain());
}

}  // namespace
