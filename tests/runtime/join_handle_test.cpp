// tests/runtime/join_handle_test.cpp: what the holder of a spawned task can do, and what it gets.
#include "skua/runtime/join_handle.hpp"

#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/busy_workers.hpp"
#include "support/event.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::join_handle;
using skua::spawn;
using skua::task;
using skua_test::busy_workers;
using skua_test::entry;
using skua_test::event;
using skua_test::ledger;
using skua_test::shared_gate;
using skua_test::unseen_exception;

task<int> give(int value) {
  co_return value;
}

task<int> fail(std::string why) {
  throw std::runtime_error(why);
  co_return 0;
}

task<int> give_after(shared_gate& at, int value) {
  co_await shared_gate::wait(at);
  co_return value;
}

task<int> fail_after(shared_gate& at) {
  co_await shared_gate::wait(at);
  throw std::runtime_error("late");
}

/// What a task that awaits the handle sees, as text.
template <typename T>
task<std::string> seen_by_await(join_handle<T> handle) {
  try {
    const T value = co_await std::move(handle);
    co_return "value " + std::to_string(value);
  } catch (const skua::task_cancelled&) {
    co_return "cancelled";
  } catch (const std::exception& thrown) {
    co_return std::string("exception ") + thrown.what();
  }
}

class join : public skua_test::for_each_kind {};

TEST_P(join, gives_the_value) {
  auto rt = start();
  EXPECT_EQ(rt.block_on(seen_by_await(rt.spawn(give(7)))), "value 7");
  const auto from_inside = []() -> task<int> { co_return co_await spawn(give(8)); };
  EXPECT_EQ(rt.block_on(from_inside), 8);
}

TEST_P(join, rethrows_the_exception) {
  auto rt = start();
  EXPECT_EQ(rt.block_on(seen_by_await(rt.spawn(fail("why")))), "exception why");
  EXPECT_EQ(log.size(), 0U) << "it was seen";
}

TEST_P(join, throws_task_cancelled_if_the_task_was_stopped) {
  auto rt = start();
  shared_gate never;
  auto child = rt.spawn(give_after(never, 1));
  EXPECT_TRUE(child.abort());
  EXPECT_EQ(rt.block_on(seen_by_await(std::move(child))), "cancelled");
}

TEST_P(join, waits_for_a_task_that_has_not_ended) {
  auto rt = start();
  shared_gate at;
  const auto joins = [&]() -> task<int> {
    auto child = spawn(give_after(at, 5));
    auto opener = spawn([&]() -> task<> {
      at.open();
      co_return;
    });
    const int value = co_await std::move(child);
    co_await std::move(opener);
    co_return value;
  };
  EXPECT_EQ(rt.block_on(joins), 5);
}

TEST_P(join, gives_a_value_that_can_only_be_moved) {
  auto rt = start();
  const auto boxes = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
  const auto joins = [&]() -> task<int> {
    std::unique_ptr<int> box = co_await spawn(boxes);
    co_return *box;
  };
  EXPECT_EQ(rt.block_on(joins), 3);
  EXPECT_EQ(*rt.block_on(rt.spawn(boxes)), 3);
}

TEST_P(join, gives_the_very_object_of_a_reference) {
  auto rt = start();
  int number = 1;
  const auto refers = [&]() -> task<int&> { co_return number; };
  const auto joins = [&]() -> task<int*> {
    int& got = co_await spawn(refers);
    co_return &got;
  };
  EXPECT_EQ(rt.block_on(joins), &number);
}

TEST_P(join, gives_nothing_for_nothing) {
  auto rt = start();
  std::atomic<bool> ran = false;
  const auto runs = [&]() -> task<> {
    ran = true;
    co_return;
  };
  const auto joins = [&]() -> task<> {
    auto child = spawn(runs);
    static_assert(std::is_void_v<decltype(std::move(child).operator co_await().await_resume())>);
    co_await std::move(child);
  };
  rt.block_on(joins);
  EXPECT_TRUE(ran);
}

TEST_P(join, as_an_outcome_tells_all_three_ends) {
  auto rt = start();
  shared_gate never;
  const auto joins = [&]() -> task<> {
    auto good = spawn(give(2));
    auto bad = spawn(fail("bad"));
    auto stopped = spawn(give_after(never, 1));
    stopped.abort();
    const skua::outcome<int> one = co_await good.outcome();
    const skua::outcome<int> two = co_await bad.outcome();
    const skua::outcome<int> three = co_await stopped.outcome();
    EXPECT_TRUE(one.has_value() && *one == 2);
    EXPECT_TRUE(two.has_exception());
    EXPECT_TRUE(three.stopped());
    EXPECT_FALSE(good.valid() || bad.valid() || stopped.valid());
  };
  rt.block_on(joins);
  EXPECT_EQ(log.size(), 0U);
}

TEST_P(join, can_wait_for_the_end_and_keep_the_handle) {
  auto rt = start();
  const auto joins = []() -> task<> {
    auto child = spawn(give(4));
    co_await child.wait();
    EXPECT_TRUE(child.valid());
    EXPECT_TRUE(child.done());
    co_await child.wait();  // once more: ready at once
    const int value = co_await std::move(child);
    EXPECT_EQ(value, 4);
  };
  rt.block_on(joins);
}

TEST_P(join, that_only_waits_has_not_seen_the_exception) {
  auto rt = start();
  const auto waits = []() -> task<> {
    auto child = spawn(fail("unseen"));
    co_await child.wait();
  };
  rt.block_on(waits);
  const auto records = log.with(unseen_exception);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].fields.at("what"), "unseen");
}

TEST_P(join, ends_by_a_stop_of_the_waiter_and_leaves_the_task) {
  auto rt = start();
  shared_gate at;
  event waits;
  std::optional<join_handle<int>> child;
  const auto wait = [&]() -> task<> {
    waits.set();
    co_await child->wait();
    ADD_FAILURE() << "goes on after the stop";
  };
  const auto script = [&]() -> task<int> {
    child.emplace(spawn(give_after(at, 6)));
    auto waiter = spawn(wait);
    while (at.waiters() == 0 || !waits.happened()) co_await skua::yield();
    waiter.abort();
    const auto how = co_await waiter.outcome();
    EXPECT_TRUE(how.stopped());
    EXPECT_FALSE(child->done());
    EXPECT_EQ(at.cancels(), 0U);
    at.open();
    co_return co_await *std::move(child);
  };
  EXPECT_EQ(rt.block_on(script), 6);
}

TEST_P(join, that_is_stopped_lets_go_of_a_handle_it_owns) {
  auto rt = start();
  shared_gate at;
  const auto script = [&]() -> task<> {
    auto waiter = spawn(seen_by_await(spawn(fail_after(at))));
    while (at.waiters() == 0) co_await skua::yield();
    waiter.abort();
    const auto how = co_await waiter.outcome();
    EXPECT_TRUE(how.stopped());
    EXPECT_EQ(at.cancels(), 0U) << "the task itself goes on";
    at.open();
  };
  rt.block_on(script);
  EXPECT_EQ(log.count(unseen_exception), 1U) << "nobody was left to see it";
}

TEST_P(join, of_a_stopped_waiter_and_an_ending_task_is_decided_once) {
  auto rt = start();
  ledger results;
  const auto gives = [&](shared_gate& at) -> task<entry> {
    co_await shared_gate::wait(at);
    co_return entry(results);
  };
  const auto joins = [](join_handle<entry> child) -> task<bool> {
    const entry got = co_await std::move(child);
    co_return got.whole();
  };
  const auto opens = [](shared_gate& at) -> task<> {
    at.open();
    co_return;
  };
  const auto round = [&](shared_gate& at) -> task<> {
    auto waiter = spawn(joins(spawn(gives(at))));
    spawn(opens(at)).detach();
    co_await skua::yield();
    waiter.abort();
    const auto how = co_await waiter.outcome();
    EXPECT_TRUE(how.stopped() || *how);
  };
  constexpr int rounds = 300;
  for (int i = 0; i < rounds; ++i) {
    shared_gate at;
    rt.block_on(round(at));
  }
  EXPECT_TRUE(results.balanced(rounds));
}

TEST_P(join, of_a_task_by_another_that_others_join) {
  auto rt = start();
  shared_gate at;
  const auto adds_one = [](join_handle<int> to) -> task<int> {
    const int value = co_await std::move(to);
    co_return value + 1;
  };
  const auto script = [&]() -> task<int> {
    auto last = spawn(give_after(at, 0));
    for (int i = 0; i < 1'000; ++i) last = spawn(adds_one(std::move(last)));
    at.open();
    co_return co_await std::move(last);
  };
  EXPECT_EQ(rt.block_on(script), 1'000);
}

class handle : public skua_test::for_each_kind {};

TEST_P(handle, knows_whether_the_task_has_ended) {
  auto rt = start();
  shared_gate at;
  const auto script = [&]() -> task<> {
    auto child = spawn(give_after(at, 1));
    while (at.waiters() == 0) co_await skua::yield();
    EXPECT_FALSE(child.done());
    at.open();
    co_await child.wait();
    EXPECT_TRUE(child.done());
  };
  rt.block_on(script);
}

TEST_P(handle, has_an_id_that_no_other_task_has) {
  auto rt = start();
  std::set<std::uint64_t> ids;
  const auto spawns = [&]() -> task<> {
    std::vector<join_handle<int>> held;
    for (int i = 0; i < 200; ++i) held.push_back(spawn(give(i)));
    for (auto& one : held) ids.insert(one.id());
    for (auto& one : held) co_await std::move(one);
  };
  std::vector<join_handle<int>> held;
  for (int round = 0; round < 5; ++round) {
    rt.block_on(spawns);
    for (int i = 0; i < 50; ++i) held.push_back(rt.spawn(give(i)));
  }
  for (const auto& one : held) ids.insert(one.id());
  EXPECT_EQ(ids.size(), 5U * 250U);
}

TEST_P(handle, is_empty_once_the_task_was_given_away) {
  auto rt = start();
  auto child = rt.spawn(give(1));
  EXPECT_TRUE(child.valid());
  auto moved = std::move(child);
  EXPECT_FALSE(child.valid());  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_TRUE(moved.valid());
  moved.detach();
  EXPECT_FALSE(moved.valid());
  moved.detach();  // allowed: there is nothing left to let go
  auto taken = rt.spawn(give(1));
  {
    const auto never_awaited = taken.outcome();
    EXPECT_FALSE(taken.valid());
  }
}

TEST_P(handle, that_is_assigned_to_lets_go_of_its_task) {
  auto rt = start();
  const auto script = []() -> task<int> {
    auto child = spawn(fail("unseen"));
    co_await child.wait();
    child = spawn(give(3));
    co_return co_await std::move(child);
  };
  EXPECT_EQ(rt.block_on(script), 3);
  EXPECT_EQ(log.count(unseen_exception), 1U);
}

TEST_P(handle, that_is_dropped_lets_the_task_run_on) {
  auto rt = start();
  shared_gate at;
  std::atomic<int> ended = 0;
  const auto counts = [&]() -> task<> {
    co_await shared_gate::wait(at);
    ++ended;
  };
  const auto script = [&]() -> task<> {
    {
      const auto dropped = spawn(counts);
    }
    spawn(counts).detach();
    while (at.waiters() < 2) co_await skua::yield();
    at.open();
  };
  rt.block_on(script);
  EXPECT_EQ(ended, 2);
}

TEST_P(handle, tells_who_aborts_first) {
  auto rt = start();
  shared_gate never;
  auto child = rt.spawn(give_after(never, 1));
  EXPECT_TRUE(child.abort());
  EXPECT_FALSE(child.abort());
  EXPECT_EQ(rt.block_on(seen_by_await(std::move(child))), "cancelled");
}

TEST_P(handle, keeps_a_task_that_it_aborts_from_starting) {
  auto rt = start();
  bool ran = false;
  const auto runs = [&]() -> task<int> {
    ran = true;
    co_return 1;
  };
  auto busy = std::make_optional<busy_workers>(rt, GetParam());
  auto child = rt.spawn(runs);
  child.abort();
  busy.reset();
  EXPECT_EQ(rt.block_on(seen_by_await(std::move(child))), "cancelled");
  EXPECT_FALSE(ran);
}

TEST_P(handle, stops_a_running_task_at_its_next_leaf) {
  auto rt = start();
  event runs;
  event may_go_on;
  shared_gate at;
  bool went_on = false;
  const auto child = [&]() -> task<int> {
    runs.set();
    may_go_on.wait();
    went_on = true;
    co_await shared_gate::wait(at);
    ADD_FAILURE() << "passed a leaf";
    co_return 1;
  };
  auto held = rt.spawn(child);
  std::thread aborter([&] {
    runs.wait();
    EXPECT_TRUE(held.abort());
    may_go_on.set();
  });
  if (!multi()) rt.block_on(give(0));  // somebody has to run it
  aborter.join();
  EXPECT_EQ(rt.block_on(seen_by_await(std::move(held))), "cancelled");
  EXPECT_TRUE(went_on);
}

TEST_P(handle, aborts_a_task_that_a_thread_waits_for) {
  auto rt = start();
  shared_gate never;
  auto child = rt.spawn(give_after(never, 1));
  std::thread waits([&] { skua::sync_wait(child.wait()); });
  child.abort();
  if (!multi()) rt.block_on(give(0));
  waits.join();
  EXPECT_TRUE(child.done());
}

TEST_P(handle, that_aborts_after_the_end_changes_nothing) {
  auto rt = start();
  const auto script = []() -> task<int> {
    auto child = spawn(give(9));
    co_await child.wait();
    child.abort();
    co_return co_await std::move(child);
  };
  EXPECT_EQ(rt.block_on(script), 9);
}

TEST_P(handle, of_a_task_that_was_refused_says_cancelled) {
  auto rt = start();
  const skua::runtime::handle way_in = rt.get_handle();
  rt.shutdown();
  auto refused = way_in.spawn(give(1));
  EXPECT_TRUE(refused.valid());
  EXPECT_TRUE(refused.done());
  EXPECT_FALSE(refused.abort()) << "it was stopped already";
  auto other = way_in.spawn(give(1));
  EXPECT_NE(refused.id(), other.id());
  EXPECT_TRUE(skua::sync_wait(refused.outcome()).stopped());
  EXPECT_EQ(skua::sync_wait(seen_by_await(std::move(other))), "cancelled");
}

INSTANTIATE_TEST_SUITE_P(runtimes, join, skua_test::every_kind(), skua_test::name_of_kind);
INSTANTIATE_TEST_SUITE_P(runtimes, handle, skua_test::every_kind(), skua_test::name_of_kind);

TEST(empty_handle, is_used_for_nothing) {
  skua_test::log_recorder log;
  auto rt = skua_test::started({skua::flavour::current_thread, 1}, log);
  auto child = rt.spawn(give(1));
  child.detach();
  constexpr const char* words = "a join handle is used while it holds a task";
  EXPECT_DEATH(child.abort(), words);
  EXPECT_DEATH(static_cast<void>(child.done()), words);
  EXPECT_DEATH(static_cast<void>(child.id()), words);
  EXPECT_DEATH(static_cast<void>(child.wait()), words);
  EXPECT_DEATH(static_cast<void>(child.outcome()), words);
  EXPECT_DEATH(static_cast<void>(skua::sync_wait(seen_by_await(std::move(child)))), words);
}

}  // namespace
