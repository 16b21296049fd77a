// tests/runtime/metrics_test.cpp: each number moves when it should, and only then.
#include "skua/runtime/metrics.hpp"

#include "skua/base/clock.hpp"
#include "skua/skua.hpp"
#include "support/shared_gate.hpp"
#include "support/sleepers.hpp"
#include "support/started.hpp"
#include "support/thread_state.hpp"

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using skua::metrics_snapshot;
using skua::spawn;
using skua::task;
using skua::worker_metrics;
using skua_test::kind;
using skua_test::shared_gate;
using skua_test::sleepers;
using skua_test::started;

metrics_snapshot metrics_here() {
  return skua::runtime_handle::current().metrics();
}
worker_metrics the_worker() {
  return metrics_here().workers[0];
}
std::uint64_t sum(const metrics_snapshot& all, std::uint64_t worker_metrics::* which) {
  std::uint64_t total = 0;
  for (const worker_metrics& one : all.workers) total += one.*which;
  return total;
}

template <typename Condition>
void wait_until(Condition met) {
  while (!met()) std::this_thread::yield();
}

task<> nothing() {
  co_return;
}
task<> waits(shared_gate& at) {
  co_await shared_gate::wait(at);
}
task<> yields(int times) {
  for (int i = 0; i < times; ++i) co_await skua::yield();
}
task<> fails() {
  throw std::runtime_error("on purpose");
  co_return;
}

class metrics : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(every, metrics, skua_test::every_kind(), skua_test::name_of_kind);

class metrics_of_one : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(one, metrics_of_one, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

TEST_P(metrics, are_all_zero_before_the_first_task) {
  auto rt = started(GetParam().settings());
  const metrics_snapshot now = rt.metrics();
  EXPECT_EQ(now.spawned, 0U);
  EXPECT_EQ(now.ended, 0U);
  EXPECT_EQ(now.cancelled, 0U);
  EXPECT_EQ(now.live, 0U);
  EXPECT_EQ(now.inject_depth, 0U);
  EXPECT_EQ(now.wakes_sent, 0U);
  EXPECT_EQ(now.blocking_threads, 0U);
  EXPECT_EQ(now.blocking_idle, 0U);
  EXPECT_EQ(now.blocking_depth, 0U);
  ASSERT_EQ(now.workers.size(), GetParam().workers);
  for (const worker_metrics& one : now.workers) {
    EXPECT_EQ(one.polls, 0U);
    EXPECT_EQ(one.steals, 0U);
    EXPECT_EQ(one.items_stolen, 0U);
    EXPECT_EQ(one.overflows, 0U);
    EXPECT_EQ(one.injected, 0U);
    EXPECT_EQ(one.lifo_hits, 0U);
    EXPECT_EQ(one.budget_yields, 0U);
    EXPECT_EQ(one.wakes_sent, 0U);
    EXPECT_EQ(one.queue_depth, 0U);
  }
}

TEST_P(metrics, count_tasks_by_how_they_ended) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    shared_gate closed;
    auto first = spawn(waits(closed));
    auto second = spawn(waits(closed));
    auto third = spawn(nothing());
    auto fourth = spawn(fails());
    co_await third.wait();
    co_await fourth.wait();
    auto now = metrics_here();
    EXPECT_EQ(now.spawned, 5U);
    EXPECT_EQ(now.cancelled, 0U);

    first.abort();
    EXPECT_TRUE((co_await first.outcome()).stopped());
    EXPECT_EQ(metrics_here().cancelled, 1U);
    closed.open();
    co_await std::move(second);
    EXPECT_TRUE((co_await fourth.outcome()).has_exception());
    auto unstarted = spawn(nothing());
    if (unstarted.abort()) {
      EXPECT_LE((co_await unstarted.outcome()).has_value(), 1);
    }
  };
  rt.block_on(body());
  const auto now = rt.metrics();
  EXPECT_EQ(now.spawned, 6U);
  EXPECT_EQ(now.ended, 6U);
  EXPECT_EQ(now.live, 0U);
  EXPECT_GE(now.cancelled, 1U);
  EXPECT_LE(now.cancelled, 2U);
}

TEST_P(metrics, count_those_who_live) {
  auto rt = started(GetParam().settings());
  auto body = [](bool alone) -> task<> {
    shared_gate closed;
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 5; ++i) all.push_back(spawn(waits(closed)));
    EXPECT_EQ(metrics_here().live, 6U);
    closed.open();
    for (auto& one : all) co_await one.wait();
    // The end is counted after whoever joins was told, perhaps on another thread.
    if (!alone) wait_until([] { return metrics_here().live == 1; });
    const auto now = metrics_here();
    EXPECT_EQ(now.live, 1U) << "a handle does not keep a task alive";
    EXPECT_EQ(now.ended, 5U);
    EXPECT_EQ(now.spawned, 6U);
  };
  rt.block_on(body(GetParam().is_alone()));
}

TEST_P(metrics, do_not_count_who_was_refused) {
  auto rt = started(GetParam().settings());
  rt.block_on(nothing());
  rt.shutdown();
  const auto before = rt.metrics();
  rt.spawn(nothing()).detach();
  EXPECT_EQ(rt.metrics().spawned, before.spawned);
  EXPECT_EQ(rt.metrics().ended, before.ended);
  EXPECT_EQ(rt.metrics().live, 0U);
}

TEST_P(metrics, count_each_turn_of_each_task) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 10; ++i) all.push_back(spawn(yields(20)));
    for (auto& one : all)
      while (!one.done()) co_await skua::yield();
  };
  auto counted = [](task<> inner, std::uint64_t& turns) -> task<> {
    const std::uint64_t before = sum(metrics_here(), &worker_metrics::polls);
    co_await std::move(inner);
    turns = sum(metrics_here(), &worker_metrics::polls) - before;
  };
  std::uint64_t turns = 0;
  rt.block_on(counted(yields(100), turns));
  EXPECT_EQ(turns, 100U);
  rt.block_on(counted(body(), turns));
  EXPECT_GE(turns, 10U * 21);
}

TEST_P(metrics_of_one, count_what_came_through_the_shared_queue) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    EXPECT_EQ(the_worker().injected, 1U) << "this one";
    for (int i = 0; i < 50; ++i) co_await spawn(nothing());
    EXPECT_EQ(the_worker().injected, 1U) << "those who are spawned here do not";
    const auto here = skua::runtime_handle::current();
    std::thread([&] {
      for (int i = 0; i < 10; ++i) here.spawn(nothing()).detach();
    }).join();
    EXPECT_EQ(metrics_here().inject_depth, 10U);
    while (metrics_here().live > 1) co_await skua::yield();
    EXPECT_EQ(the_worker().injected, 11U);
    EXPECT_EQ(metrics_here().inject_depth, 0U);
  };
  rt.block_on(body());
}

TEST(metrics_of_two, count_what_was_stolen) {
  skua::config with = skua_test::two_workers.settings();
  with.rescue = false;  // which takes from the slot, if this worker has no processor for a while
  auto rt = started(with);
  std::atomic<int> ran_there = 0;
  auto body = [](std::atomic<int>& ran) -> task<> {
    constexpr int children = 100;
    auto child = [](std::atomic<int>& count) -> task<> {
      ++count;
      count.notify_all();
      co_return;
    };
    const auto before = metrics_here();
    for (int i = 0; i < children; ++i) spawn(child(ran));
    // The last is in the slot. This worker does not run the others, so the other one has to.
    for (int seen = ran; seen < children - 1; seen = ran) ran.wait(seen);
    const auto after = metrics_here();
    EXPECT_GE(sum(after, &worker_metrics::steals), sum(before, &worker_metrics::steals) + 1);
    EXPECT_EQ(sum(after, &worker_metrics::items_stolen),
              sum(before, &worker_metrics::items_stolen) + children - 1);
    co_return;
  };
  rt.block_on(body(ran_there));
}

TEST_P(metrics_of_one, count_no_theft_where_there_is_nobody_to_steal_from) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    for (int i = 0; i < 500; ++i) spawn(yields(3));
    co_return;
  };
  rt.block_on(body());
  EXPECT_EQ(rt.metrics().workers[0].steals, 0U);
  EXPECT_EQ(rt.metrics().workers[0].items_stolen, 0U);
}

// One waits in the slot, 256 in the ring; the next moves 128 of these, and itself.
TEST(metrics_of_the_ring, count_overflows_and_where_the_items_went) {
  auto rt = started(skua_test::one_worker.settings());
  auto body = []() -> task<> {
    for (int i = 0; i < 257; ++i) spawn(nothing());
    EXPECT_EQ(the_worker().overflows, 0U);
    EXPECT_EQ(the_worker().queue_depth, 256U);
    EXPECT_EQ(metrics_here().inject_depth, 0U);
    spawn(nothing());
    EXPECT_EQ(the_worker().overflows, 1U);
    EXPECT_EQ(the_worker().queue_depth, 128U);
    EXPECT_EQ(metrics_here().inject_depth, 129U);
    while (metrics_here().live > 1) co_await skua::yield();
    EXPECT_EQ(the_worker().overflows, 1U);
    EXPECT_EQ(the_worker().queue_depth, 0U);
    EXPECT_EQ(the_worker().injected, 1U + 129);
  };
  rt.block_on(body());
}

TEST(metrics_of_current_thread, tell_how_many_wait) {
  auto rt = started(skua_test::alone.settings());
  auto body = []() -> task<> {
    for (int i = 0; i < 1'000; ++i) spawn(nothing());
    EXPECT_EQ(the_worker().queue_depth, 1'000U);
    EXPECT_EQ(the_worker().overflows, 0U);
    while (metrics_here().live > 1) co_await skua::yield();
    EXPECT_EQ(the_worker().queue_depth, 0U);
  };
  rt.block_on(body());
}

task<> line_of(int successors) {
  if (successors > 0) spawn(line_of(successors - 1));
  co_return;
}

TEST(metrics_of_the_slot, count_whoever_ran_from_it) {
  auto rt = started(skua_test::one_worker.settings());
  rt.block_on(nothing());
  EXPECT_EQ(rt.metrics().workers[0].lifo_hits, 0U);
  rt.block_on(line_of(3));
  EXPECT_EQ(rt.metrics().workers[0].lifo_hits, 3U);
  rt.block_on(line_of(4));  // three in a row are the most
  EXPECT_EQ(rt.metrics().workers[0].lifo_hits, 6U);
}

TEST_P(metrics, count_nothing_from_the_slot_where_there_is_none) {
  skua::config with = GetParam().settings();
  with.lifo_slot = false;
  auto rt = started(with);
  rt.block_on(line_of(20));
  EXPECT_EQ(sum(rt.metrics(), &worker_metrics::lifo_hits), 0U);
}

TEST(metrics_of_current_thread, count_nothing_from_the_slot) {
  auto rt = started(skua_test::alone.settings());
  rt.block_on(line_of(20));
  EXPECT_EQ(rt.metrics().workers[0].lifo_hits, 0U);
}

task<> uses(std::uint32_t operations) {
  for (std::uint32_t i = 0; i < operations; ++i) co_await skua::consume_budget();
}

TEST_P(metrics_of_one, count_those_who_gave_way_because_their_turn_was_used_up) {
  auto rt = started(GetParam().settings());
  const auto counted = [&] { return rt.metrics().workers[0].budget_yields; };
  rt.block_on(uses(128));
  EXPECT_EQ(counted(), 0U);
  rt.block_on(uses(129));
  EXPECT_EQ(counted(), 1U);
  rt.block_on(uses(129 + 128 + 1));
  EXPECT_EQ(counted(), 3U);
  rt.block_on(yields(1'000));
  EXPECT_EQ(counted(), 3U) << "they gave way of their own will";
}

TEST_P(metrics_of_one, do_not_count_those_who_give_way_of_their_own_will_at_the_last_moment) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    co_await uses(128);  // all there is, and no more
    co_await skua::yield();
  };
  rt.block_on(body());
  EXPECT_EQ(rt.metrics().workers[0].budget_yields, 0U);
}

TEST_P(metrics_of_one, count_those_at_home_whose_turn_was_used_up) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> { co_await skua::spawn_local(uses(129)); };
  rt.block_on(body());
  EXPECT_EQ(rt.metrics().workers[0].budget_yields, 1U);
}

/// A runtime with one worker, for tests that go on when that one sleeps: in the kernel. Who is
/// woken on the way there goes to sleep twice, since the wake is seen before it has been sent
/// altogether.
struct one_that_sleeps {
  explicit one_that_sleeps(const skua::config& with) : rt(started(with)) {
    auto who = []() -> task<pid_t> { co_return ::gettid(); };
    thread = rt.block_on(who());
  }
  [[nodiscard]] worker_metrics once_asleep() const {
    wait_until([this] { return skua_test::sleeps_in_kernel(thread); });
    return rt.metrics().workers[0];
  }
  skua::runtime rt;
  pid_t thread = 0;
};

TEST(metrics_of_sleep, count_each_time_a_worker_goes_to_sleep) {
  one_that_sleeps one(skua_test::one_worker.settings());
  std::uint64_t parks = one.once_asleep().parks;
  EXPECT_GE(parks, 1U);
  for (int i = 0; i < 10; ++i, ++parks) {
    auto body = [](std::uint64_t before) -> task<> {
      co_await yields(500);
      EXPECT_EQ(the_worker().parks, before) << "it had work all the time";
    };
    one.rt.block_on(body(parks));
    EXPECT_EQ(one.once_asleep().parks, parks + 1);
  }
}

TEST(metrics_of_sleep, count_the_wakes_that_other_threads_send) {
  one_that_sleeps one(skua_test::one_worker.settings());
  std::uint64_t wakes = one.rt.metrics().wakes_sent;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(one.once_asleep().wakes_sent, 0U);
    one.rt.block_on(yields(100));
    EXPECT_EQ(one.rt.metrics().wakes_sent, ++wakes);
  }
}

TEST(metrics_of_sleep, count_no_wake_of_somebody_who_is_awake) {
  auto rt = started(skua_test::one_worker.settings());
  auto body = []() -> task<> {
    const auto here = skua::runtime_handle::current();
    std::thread([&] {
      for (int i = 0; i < 10; ++i) here.spawn(nothing()).detach();
    }).join();
    co_return;
  };
  rt.block_on(body());
  EXPECT_LE(rt.metrics().wakes_sent, 1U) << "for the first";
}

/// One round: the first child goes to the slot, which wakes nobody; the second takes that from it,
/// and it goes where the other worker can have it. How many wakes that took.
task<std::uint64_t> wakes_for_a_child(const sleepers& who, std::atomic<bool>& ran) {
  auto child = [](std::atomic<bool>& done) -> task<> {
    done = true;
    co_return;
  };
  ran = false;
  wait_until([&] { return who.asleep > 0; });
  const std::uint64_t before = sum(metrics_here(), &worker_metrics::wakes_sent);
  spawn(child(ran));
  EXPECT_EQ(sum(metrics_here(), &worker_metrics::wakes_sent), before);
  auto second = spawn(nothing());
  wait_until([&] { return ran.load(); });
  const auto after = metrics_here();
  EXPECT_GE(after.wakes_sent, sum(after, &worker_metrics::wakes_sent)) << "includes those";
  co_await std::move(second);
  co_return sum(after, &worker_metrics::wakes_sent) - before;
}

TEST(metrics_of_sleep, count_the_wakes_that_a_worker_sends) {
  sleepers watcher;
  skua::config with = skua_test::two_workers.settings();
  with.hooks = &watcher;
  auto rt = started(with);
  std::atomic<bool> ran = false;
  std::uint64_t sent = 0;
  auto body = [](const sleepers& who, std::atomic<bool>& flag, std::uint64_t& total) -> task<> {
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t now = co_await wakes_for_a_child(who, flag);
      EXPECT_LE(now, 1U);
      total += now;
    }
  };
  rt.block_on(body(watcher, ran, sent));
  EXPECT_GE(sent, 50U) << "now and then the other wakes up by itself just then";
}

task<> takes(skua::manual_clock& clock, std::int64_t time) {
  clock.advance(time);
  co_return;
}

TEST(metrics_of_time, count_the_time_that_a_worker_was_awake) {
  skua::manual_clock clock;
  skua::config with = skua_test::one_worker.settings();
  with.clock = &clock;
  one_that_sleeps one(with);
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(one.once_asleep().busy_ns, i * 5'000);
    clock.advance(1'000'000);  // while it sleeps
    one.rt.block_on(takes(clock, 5'000));
  }
}

TEST(metrics_of_time, count_the_time_of_runs_of_current_thread_that_ended_without_sleep) {
  skua::manual_clock clock;
  skua::config with = skua_test::alone.settings();
  with.clock = &clock;
  auto rt = started(with);
  for (int i = 0; i < 5; ++i) {
    rt.block_on(takes(clock, 5'000));
    clock.advance(1'000'000);  // while nobody drives it
  }
  shared_gate closed;
  std::thread opener([&] {
    wait_until([&] { return rt.metrics().workers[0].parks >= 1; });
    closed.open();
  });
  rt.block_on(waits(closed));
  opener.join();
  EXPECT_EQ(rt.metrics().workers[0].busy_ns, 25'000U);
}

TEST_P(metrics, count_threads_and_calls_of_the_pool) {
  skua::config with = GetParam().settings();
  with.blocking_threads = 2;
  auto rt = started(with);
  auto body = []() -> task<> {
    constexpr std::size_t calls = 5;
    std::array<std::atomic<bool>, calls> begun = {};
    std::atomic<bool> go_on = false;
    auto call = [](std::atomic<bool>& mine, std::atomic<bool>& go) {
      mine = true;
      go.wait(false);
    };
    std::vector<skua::join_handle<void>> all;
    all.reserve(calls);
    for (std::size_t i = 0; i < calls; ++i)
      all.push_back(spawn(skua::spawn_blocking(call, std::ref(begun[i]), std::ref(go_on))));
    const auto under_way = [&] { return std::count(begun.begin(), begun.end(), true); };
    while (under_way() < 2 || metrics_here().blocking_depth < 3) co_await skua::yield();
    const auto busy = metrics_here();
    EXPECT_EQ(busy.blocking_threads, 2U);
    EXPECT_EQ(busy.blocking_idle, 0U);
    EXPECT_EQ(busy.blocking_depth, 3U);
    const auto waiting =
        static_cast<std::size_t>(std::find(begun.begin(), begun.end(), false) - begun.begin());
    all[waiting].abort();
    co_await all[waiting].wait();
    EXPECT_EQ(metrics_here().blocking_depth, 2U) << "one was withdrawn";
    go_on = true;
    go_on.notify_all();
    for (auto& one : all) co_await one.wait();
    wait_until([] { return metrics_here().blocking_idle == 2; });
    const auto idle = metrics_here();
    EXPECT_EQ(idle.blocking_threads, 2U);
    EXPECT_EQ(idle.blocking_depth, 0U);
    EXPECT_EQ(under_way(), 4);
  };
  rt.block_on(body());
}

}  // namespace
