// tests/issues/tokio_2119_test.cpp: shutdown and block_in_place waited for each other.
//
// Tokio 2119: a runtime was dropped while one of its tasks was in block_in_place. The worker had
// been handed to a thread of the blocking pool; shutdown waited for that thread, the thread for the
// worker's own, and that one for a worker that nobody gave back any more.
//
// Here the end is told to the workers, whoever holds them, before the pool is waited for
// (core::take_down()); a substitute hands its worker home before it ends (worker::substitute());
// and a home thread that asks for its worker cannot miss it (worker::lend(), wait_for_return()).
#include "skua/base/random.hpp"
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace {

using skua::runtime;
using skua::task;
using skua_test::watchdog;

/// Blocks until the task is asked to stop, which is what shutdown does first.
task<void> blocks_until_stopped(std::atomic<int>& inside) {
  const std::stop_token asked = co_await skua::current_stop_token();
  skua::block_in_place([&] {
    ++inside;
    while (!asked.stop_requested()) std::this_thread::yield();
  });
}

class tokio_2119 : public testing::TestWithParam<std::size_t> {
protected:
  watchdog hang{"shutdown against block_in_place"};
};

class tokio_2119_alone : public testing::Test {
protected:
  watchdog hang{"one worker against block_in_place"};
};

TEST_P(tokio_2119, shutdown_ends_although_every_worker_is_lent) {
  auto rt = runtime::builder().workers(GetParam()).build();
  const watchdog::registration watched(hang, rt->get_handle());
  std::atomic<int> inside = 0;
  const int tasks = static_cast<int>(GetParam()) + 1;  // a substitute is in a section itself
  for (int i = 0; i < tasks; ++i) rt->spawn(blocks_until_stopped(inside)).detach();
  while (inside < tasks) std::this_thread::yield();
  EXPECT_TRUE(rt->shutdown().complete());
}

/// Substitutes sleep as workers when the end comes, and their home threads wait for them.
TEST_P(tokio_2119, shutdown_ends_when_substitutes_sleep) {
  auto rt = runtime::builder().workers(GetParam()).build();
  const watchdog::registration watched(hang, rt->get_handle());
  for (std::size_t i = 0; i < 4 * GetParam(); ++i)
    rt->block_on([] { skua::block_in_place([] { std::this_thread::yield(); }); });
  EXPECT_TRUE(rt->shutdown().complete());
}

/// Blocks until its substitute, who found nothing to do, sleeps. Then it waits for a task that only
/// its own thread can run.
task<void> needs_its_own_thread(skua::runtime_handle rt) {
  auto local = skua::spawn_local([]() -> task<int> { co_return 3; });
  const std::uint64_t parks = rt.metrics().workers[0].parks;
  skua::block_in_place([&] {
    while (rt.metrics().workers[0].parks == parks) std::this_thread::yield();
  });
  EXPECT_EQ(co_await std::move(local), 3);
}

TEST_F(tokio_2119_alone, a_home_thread_gets_its_worker_back_from_a_substitute_that_sleeps) {
  auto rt = runtime::builder().workers(1).build();
  const watchdog::registration watched(hang, rt->get_handle());
  rt->block_on(needs_its_own_thread(rt->get_handle()));
}

task<void> goes_in_and_out(std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    skua::block_in_place([] {});
    co_await skua::yield();
  }
}

TEST_P(tokio_2119, shutdown_ends_at_any_moment) {
  skua::random_generator random(
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::uint64_t rounds = 0;
  for (const skua_test::budget time(1); time.left(); ++rounds) {
    std::optional<runtime> rt = runtime::builder().workers(GetParam()).build().value();
    const watchdog::registration watched(hang, rt->get_handle());
    for (int i = 0; i < 4; ++i) rt->spawn(goes_in_and_out(1 + random.below(20))).detach();
    for (std::uint64_t i = random.below(200); i > 0; --i) std::this_thread::yield();
    rt.reset();
    hang.progress();
  }
  std::printf("%llu rounds with %zu workers\n", static_cast<unsigned long long>(rounds),
              GetParam());
}

/// The pool has one thread. It holds the worker, and blocks in its turn, about when the home thread
/// comes back: that one must get the worker, since nobody else can run what the blocked one waits
/// for.
TEST_F(tokio_2119_alone, a_worker_that_is_lent_on_comes_home_though_the_pool_has_no_thread) {
  auto rt = runtime::builder().workers(1).blocking_threads(1).build();
  const watchdog::registration watched(hang, rt->get_handle());
  skua::random_generator random(
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::atomic<std::uint64_t> began{0}, left{0}, blocked{0}, released{0};
  std::uint64_t round = 0;
  for (const skua_test::budget time(2); time.left(); hang.progress()) {
    ++round;
    auto at_home = rt->spawn([&, round] {
      skua::block_in_place([&] {
        while (began < round) std::this_thread::yield();
      });
      left = round;
    });
    auto at_the_substitute = rt->spawn([&, round, later = random.below(200)] {
      began = round;
      while (left < round) std::this_thread::yield();
      for (std::uint64_t i = 0; i < later; ++i) asm volatile("");
      if (later % 4 == 0) std::this_thread::yield();
      skua::block_in_place([&] {
        blocked = round;
        while (released < round) std::this_thread::yield();
      });
    });
    while (blocked < round) std::this_thread::yield();
    auto last = rt->spawn([&, round] { released = round; });
    while (!at_home.done() || !at_the_substitute.done() || !last.done()) std::this_thread::yield();
  }
  std::printf("%llu rounds\n", static_cast<unsigned long long>(round));
}

INSTANTIATE_TEST_SUITE_P(workers, tokio_2119, testing::Values(1, 2, 4));

}  // namespace
