// tests/runtime/shutdown_test.cpp: a runtime ends when its tasks have, and says which have not.
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/event.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"
#include "support/thread_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::join_handle;
using skua::spawn;
using skua::task;
using skua_test::entry;
using skua_test::event;
using skua_test::ledger;
using skua_test::shared_gate;
using namespace std::chrono_literals;

class shutdown : public skua_test::for_each_kind {};

task<> wait_at(shared_gate& at) {
  co_await shared_gate::wait(at);
}

task<int> hold_at(shared_gate& at, entry parameter) {
  co_await shared_gate::wait(at);
  co_return parameter.whole() ? 1 : 0;
}

task<> hold_a_tree(shared_gate& at, ledger& frames, int depth) {
  const entry local(frames);
  if (depth > 0) {
    spawn(hold_a_tree(at, frames, depth - 1)).detach();
    auto joined = spawn(hold_a_tree(at, frames, depth - 1));
    co_await std::move(joined);
  }
  co_await shared_gate::wait(at);
}

TEST_P(shutdown, by_the_destructor_stops_and_awaits_tasks_in_flight) {
  shared_gate never;
  ledger frames;
  {
    auto rt = start();
    for (int i = 0; i < 100; ++i) rt.spawn(hold_at(never, entry(frames))).detach();
    rt.block_on([&]() -> task<> {
      spawn_background(hold_a_tree(never, frames, 5)).detach();
      while (never.waiters() < 100 + 32) co_await skua::yield();
    });
    for (int i = 0; i < 100; ++i) rt.spawn(hold_at(never, entry(frames))).detach();
  }
  EXPECT_TRUE(frames.balanced(200 + 63)) << frames.made << " made, " << frames.ended << " ended";
  EXPECT_EQ(log.size(), 0U);
}

TEST_P(shutdown, is_complete_when_all_tasks_have_stopped) {
  auto rt = start();
  shared_gate never;
  auto child = rt.spawn(wait_at(never));
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_TRUE(child.done());
  const auto seen = rt.metrics();
  EXPECT_EQ(seen.live, 0U);
  EXPECT_EQ(seen.spawned, 1U);
  EXPECT_EQ(seen.cancelled, 1U);
}

TEST_P(shutdown, may_be_asked_for_again) {
  auto rt = start();
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_TRUE(rt.shutdown(0s).complete());
  EXPECT_TRUE(rt.shutdown(-1s).complete());
}

TEST_P(shutdown, may_be_asked_for_by_several_threads_at_once) {
  auto rt = start();
  shared_gate never;
  ledger frames;
  for (int i = 0; i < 100; ++i) rt.spawn(hold_at(never, entry(frames))).detach();
  {
    std::vector<std::jthread> closers;
    for (int i = 0; i < 4; ++i)
      closers.emplace_back([&] {
        EXPECT_TRUE(rt.shutdown().complete());
        EXPECT_TRUE(frames.balanced(100)) << "nobody returns before the end";
      });
  }
}

TEST_P(shutdown, takes_any_time_limit) {
  for (const auto limit : {std::chrono::hours::max(), std::chrono::hours(1)}) {
    auto rt = start();
    shared_gate never;
    rt.spawn(wait_at(never)).detach();
    EXPECT_TRUE(rt.shutdown(limit).complete());
  }
}

TEST_P(shutdown, ends_the_workers_threads) {
  skua_test::thread_watch threads;
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.hooks = &threads;
  const int expected = multi() ? static_cast<int>(GetParam().workers) : 0;
  auto rt = skua_test::started(settings);
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_EQ(threads.started.times(), expected);
  EXPECT_EQ(threads.stopped.times(), expected);
}

TEST_P(shutdown, ends_the_block_on_of_another_thread) {
  auto rt = start();
  shared_gate never;
  const std::size_t callers = multi() ? 4 : 1;
  std::atomic<std::size_t> cancelled = 0;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < callers; ++i)
    threads.emplace_back([&] {
      try {
        rt.block_on(wait_at(never));
      } catch (const skua::task_cancelled&) {
        ++cancelled;
      }
    });
  never.await_waiters(callers);
  EXPECT_TRUE(rt.shutdown().complete());
  threads.clear();
  EXPECT_EQ(cancelled, callers);
}

TEST_P(shutdown, ends_tasks_that_breed_without_end) {
  auto rt = start();
  std::atomic<int> born = 0;
  struct breeder {
    static task<> breed(std::atomic<int>& born) {
      if (++born > 0) spawn(breed(born)).detach();
      co_await skua::yield();
      co_await skua::yield();
    }
  };
  rt.block_on([&]() -> task<> {
    for (int i = 0; i < 10; ++i) spawn_background(breeder::breed(born)).detach();
    while (born < 1'000) co_await skua::yield();
  });
  EXPECT_TRUE(rt.shutdown().complete());
}

/// Everything that can be spawned by a task, each with an argument to look after.
task<> spawn_in_all_ways(ledger& frames, std::atomic<int>& ran) {
  const auto runs = [](std::atomic<int>& count, entry) -> task<> {
    ++count;
    co_return;
  };
  std::vector<join_handle<void>> born;
  born.push_back(spawn(runs(ran, entry(frames))));
  born.push_back(skua::spawn_background(runs(ran, entry(frames))));
  born.push_back(skua::spawn_local(runs(ran, entry(frames))));
  born.push_back(*skua::try_spawn(runs(ran, entry(frames))));
  born.push_back(skua::runtime_handle::current().spawn(runs(ran, entry(frames))));
  for (auto& one : born) {
    const auto how = co_await one.outcome();
    EXPECT_TRUE(how.stopped());
  }
}

TEST_P(shutdown, lets_live_tasks_spawn_but_their_children_are_born_stopped) {
  auto rt = start();
  ledger frames;
  std::atomic<int> ran = 0;
  std::atomic<bool> cleaned_up = false;
  shared_gate never;
  const auto cleans_up = [&]() -> task<> {
    const auto how = co_await skua::as_outcome(wait_at(never));
    EXPECT_TRUE(how.stopped());
    co_await skua::shielded(spawn_in_all_ways(frames, ran));
    cleaned_up = true;
  };
  rt.spawn(cleans_up).detach();
  if (!multi()) rt.block_on([]() -> task<> { co_await skua::yield(); });
  never.await_waiters();
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_TRUE(cleaned_up);
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(frames.balanced(5));
}

TEST_P(shutdown, lets_a_blocking_call_spawn_but_its_children_are_born_stopped) {
  auto rt = start();
  std::atomic<bool> ran = false;
  event begun;
  event may_go_on;
  const auto calls = [&] {
    begun.set();
    may_go_on.wait();
    auto child = spawn([&] { ran = true; });
    skua::sync_wait(child.wait());  // on a thread of its own: it may block
  };
  auto waits = rt.spawn(skua::spawn_blocking(calls));
  if (!multi()) rt.block_on([]() -> task<> { co_await skua::yield(); });
  begun.wait();
  std::thread closer([&] { EXPECT_TRUE(rt.shutdown().complete()); });
  while (!rt.tasks().at(0).stop_requested) std::this_thread::yield();
  may_go_on.set();
  closer.join();
  EXPECT_TRUE(waits.done());
  EXPECT_FALSE(ran);
}

TEST_P(shutdown, refuses_what_is_spawned_later_and_destroys_it) {
  auto rt = start();
  const skua::runtime::handle way_in = rt.get_handle();
  EXPECT_TRUE(rt.shutdown().complete());
  shared_gate never;
  ledger frames;
  auto one = way_in.spawn(hold_at(never, entry(frames)));
  EXPECT_TRUE(frames.balanced(1)) << "it is not kept until the handle is dropped";
  EXPECT_TRUE(skua::sync_wait(one.outcome()).stopped());
  auto look = [](const entry& owned) { return owned.whole(); };
  way_in.spawn(skua::call(look, entry(frames))).detach();
  EXPECT_TRUE(frames.balanced(2));
  auto tried = way_in.try_spawn(hold_at(never, entry(frames)));
  ASSERT_TRUE(tried.has_value());
  EXPECT_TRUE(skua::sync_wait(tried->outcome()).stopped());
  EXPECT_TRUE(frames.balanced(3));
}

TEST_P(shutdown, refuses_a_later_block_on) {
  auto rt = start();
  EXPECT_TRUE(rt.shutdown().complete());
  shared_gate never;
  ledger frames;
  EXPECT_THROW(rt.block_on(hold_at(never, entry(frames))), skua::task_cancelled);
  EXPECT_THROW(rt.wait_all(hold_at(never, entry(frames)), hold_at(never, entry(frames))),
               skua::task_cancelled);
  EXPECT_TRUE(frames.balanced(3));
}

TEST_P(shutdown, leaves_handles_that_can_still_look) {
  std::optional<skua::runtime> rt(start());
  const skua::runtime::handle way_in = rt->get_handle();
  rt->block_on([] { return 1; });
  rt.reset();
  EXPECT_EQ(way_in.metrics().spawned, 1U);
  EXPECT_EQ(way_in.metrics().live, 0U);
  EXPECT_TRUE(way_in.tasks().empty());
  const auto copy = way_in;  // NOLINT(performance-unnecessary-copy-initialization): that is it
  EXPECT_TRUE(skua::sync_wait(copy.spawn([] {}).outcome()).stopped());
}

TEST_P(shutdown, resolves_every_spawn_of_other_threads) {
  ledger frames;
  std::atomic<int> ran = 0;
  std::atomic<int> spawned = 0;
  std::atomic<int> stopped = 0;
  const auto runs = [](std::atomic<int>& count, entry) -> task<int> { co_return ++count; };
  auto rt = start();
  const auto spawns = [&, way_in = rt.get_handle()] {
    std::vector<join_handle<int>> held;
    for (int i = 0; i < 1'000; ++i) {
      ++spawned;
      held.push_back(way_in.spawn(runs(ran, entry(frames))));
    }
    for (auto& one : held) stopped += skua::sync_wait(one.outcome()).stopped() ? 1 : 0;
  };
  {
    std::vector<std::jthread> spawners;
    for (int i = 0; i < 3; ++i) spawners.emplace_back(spawns);
    while (spawned < 200) std::this_thread::yield();
    EXPECT_TRUE(rt.shutdown().complete());
  }
  EXPECT_EQ(ran + stopped, spawned);
  EXPECT_TRUE(frames.balanced(spawned)) << frames.made << " made, " << frames.ended << " ended";
}

TEST_P(shutdown, of_a_runtime_that_is_assigned_to_comes_first) {
  shared_gate never;
  ledger frames;
  auto rt = start();
  rt.spawn(hold_at(never, entry(frames))).detach();
  rt = start();
  EXPECT_TRUE(frames.balanced(1));
  EXPECT_EQ(rt.block_on([] { return 2; }), 2);
  auto moved = std::move(rt);
  EXPECT_EQ(moved.block_on([] { return 3; }), 3);
}

TEST_P(shutdown, never_makes_a_blocking_call_that_waits_and_awaits_one_that_has_begun) {
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.blocking_threads = 1;
  auto rt = skua_test::started(settings);
  event begun;
  event may_end;
  std::atomic<bool> ended = false;
  std::atomic<bool> ran = false;
  shared_gate driven_until;
  const auto first = [&] {
    begun.set();
    may_end.wait();
    ended = true;
  };
  auto started = rt.spawn(skua::spawn_blocking(first));
  std::optional<std::jthread> driver;
  if (!multi()) driver.emplace([&] { EXPECT_ANY_THROW(rt.block_on(wait_at(driven_until))); });
  begun.wait();
  auto queued = rt.spawn(skua::spawn_blocking([&] { ran = true; }));
  while (rt.metrics().blocking_depth == 0) std::this_thread::yield();

  std::jthread closer([&] {
    EXPECT_TRUE(rt.shutdown().complete());
    EXPECT_TRUE(ended) << "a call that has begun is awaited";
  });
  EXPECT_TRUE(skua::sync_wait(queued.outcome()).stopped()) << "without waiting for the other";
  EXPECT_FALSE(started.done());
  may_end.set();
  closer.join();
  EXPECT_TRUE(started.done());
  EXPECT_FALSE(ran);
}

INSTANTIATE_TEST_SUITE_P(runtimes, shutdown, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
