// tests/runtime/left_alone_test.cpp: tasks that do not stop in time, runtimes nobody waits for.
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
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
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
using skua_test::thread_watch;
using namespace std::chrono_literals;

task<> wait_at(shared_gate& at) {
  co_await shared_gate::wait(at);
}

task<int> hold_at(shared_gate& at, entry parameter) {
  co_await shared_gate::wait(at);
  co_return parameter.whole() ? 1 : 0;
}

/// Its threads are told apart from others, and awaited even if nobody joins them.
class left_alone : public skua_test::for_each_kind {
protected:
  [[nodiscard]] skua::runtime start_watched() {
    skua::config settings = skua_test::settings_of(GetParam(), log);
    settings.hooks = &threads;
    settings.blocking_keep_alive = 0;  // so that the pool's threads end with their calls
    return skua_test::started(settings);
  }
  void await_threads() {
    if (multi()) threads.stopped.wait(static_cast<int>(GetParam().workers));
  }

  thread_watch threads;
};

/// A task that listens to nobody: its thread spins until it is released.
struct deaf {
  event runs;
  std::atomic<bool> released = false;
  ledger frames;

  static task<int> spin(deaf& self, entry parameter) {
    const entry local(self.frames);
    self.runs.set();
    while (!self.released) std::this_thread::yield();
    co_return parameter.whole() ? 1 : 0;
  }
};

/// Runs a current_thread runtime on a thread of its own, until it is stopped.
class driving {
public:
  driving(skua::runtime& rt, bool multi) {
    if (!multi)
      thread_ = std::jthread(
          [this, &rt] { EXPECT_THROW(rt.block_on(wait_at(never_)), skua::task_cancelled); });
  }

private:
  shared_gate never_;
  std::jthread thread_;
};

TEST_P(left_alone, a_task_that_does_not_stop_in_time_is_reported) {
  deaf to_all;
  std::optional<skua::runtime> rt(start_watched());
  const auto where = std::source_location::current();
  auto held = rt->spawn(skua::named("the deaf one", deaf::spin(to_all, entry(to_all.frames))));
  const std::uint64_t id = held.id();
  const driving thread(*rt, multi());
  to_all.runs.wait();
  shared_gate never;
  rt->spawn(wait_at(never)).detach();  // ends in time, or cannot since nobody is free to run it

  const skua::shutdown_report report = rt->shutdown(1ms);
  EXPECT_FALSE(report.complete());
  const skua::task_info* found = nullptr;
  for (const skua::task_info& one : report.still_running)
    if (one.id == id) found = &one;
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name(), "the deaf one");
  EXPECT_STREQ(found->where.file_name(), where.file_name());
  EXPECT_EQ(found->where.line(), where.line() + 1);
  EXPECT_TRUE(found->stop_requested);
  EXPECT_NE(found->now, skua::task_info::state::ended);

  const auto records = log.with("did not stop in time");
  ASSERT_EQ(records.size(), report.still_running.size());
  const auto mine = std::ranges::find_if(
      records, [id](const auto& one) { return one.fields.at("task") == std::to_string(id); });
  ASSERT_NE(mine, records.end());
  EXPECT_EQ(mine->level, skua::log_level::warn);
  EXPECT_EQ(mine->fields.at("name"), "the deaf one");
  EXPECT_EQ(mine->fields.at("file"), where.file_name());
  EXPECT_EQ(mine->fields.at("line"), std::to_string(where.line() + 1));

  EXPECT_FALSE(held.done());
  EXPECT_EQ(to_all.frames.ended, 0) << "it is left alone";
  rt.reset();
  to_all.released = true;
  EXPECT_EQ(*skua::sync_wait(held.outcome()), 1);
  await_threads();
  EXPECT_TRUE(to_all.frames.balanced(2));
}

/// Kept where leak checkers see it: on a current_thread runtime nobody runs a task any more that
/// was left alone while it waited, and so its memory and the runtime's stay for good.
template <typename T>
T& keep_for_good(T what) {
  static std::vector<std::unique_ptr<T>>& all = *new std::vector<std::unique_ptr<T>>;
  return *all.emplace_back(std::make_unique<T>(std::move(what)));
}

TEST_P(left_alone, a_blocking_call_that_does_not_end_in_time_is_reported) {
  event begun;
  event may_end;
  std::optional<skua::runtime> rt(start_watched());
  const auto way_in = rt->get_handle();
  auto held = rt->spawn(skua::spawn_blocking([&] {
    begun.set();
    may_end.wait();
    return 5;
  }));
  if (!multi()) rt->block_on([]() -> task<> { co_await skua::yield(); });
  begun.wait();
  const auto report = rt->shutdown(1ms);
  ASSERT_FALSE(report.complete());
  EXPECT_EQ(report.still_running.at(0).id, held.id());
  rt.reset();
  may_end.set();
  while (way_in.metrics().blocking_threads > 0) std::this_thread::yield();
  if (!multi()) return static_cast<void>(keep_for_good(std::move(held)));
  skua::sync_wait(held.wait());
  await_threads();
}

TEST_P(left_alone, a_task_that_waits_behind_a_shield_is_reported) {
  shared_gate& at = *keep_for_good(new shared_gate);  // its list would not die empty
  std::optional<skua::runtime> rt(start_watched());
  const auto waits = [](shared_gate& where) -> task<> { co_await skua::shielded(wait_at(where)); };
  auto held = rt->spawn(waits(at));
  if (!multi()) rt->block_on([]() -> task<> { co_await skua::yield(); });
  at.await_waiters();
  const auto report = rt->shutdown(1ms);
  ASSERT_EQ(report.still_running.size(), 1U);
  EXPECT_EQ(report.still_running[0].id, held.id());
  rt.reset();
  if (!multi()) return static_cast<void>(keep_for_good(std::move(held)));
  at.open();
  skua::sync_wait(held.wait());
  await_threads();
}

TEST_P(left_alone, a_task_that_still_runs_is_reported_by_every_shutdown) {
  if (!multi()) GTEST_SKIP() << "nobody would run it";
  deaf to_all;
  auto rt = start_watched();
  auto held = rt.spawn(deaf::spin(to_all, entry(to_all.frames)));
  to_all.runs.wait();
  EXPECT_FALSE(rt.shutdown(1ms).complete());
  EXPECT_FALSE(rt.shutdown(1ms).complete()) << "it runs still";
  to_all.released = true;
  skua::sync_wait(held.wait());
  EXPECT_TRUE(rt.shutdown().complete());
  await_threads();
}

// A runtime that is dropped by itself.

constexpr const char* complaint = "destroyed by one of its own tasks";

TEST_P(left_alone, a_runtime_may_be_dropped_by_the_task_that_block_on_runs) {
  ledger frames;
  shared_gate never;
  std::optional<skua::runtime> rt(start_watched());
  const auto drops = [&]() -> task<int> {
    auto child = spawn(hold_at(never, entry(frames)));
    spawn_background(hold_at(never, entry(frames))).detach();
    while (never.waiters() < 2) co_await skua::yield();
    rt.reset();
    EXPECT_EQ(log.count(complaint), 1U);
    co_return 4;  // asked to stop, but it passes no leaf
  };
  EXPECT_EQ(rt->block_on(drops), 4);
  await_threads();
  EXPECT_TRUE(frames.balanced(2));
}

TEST_P(left_alone, a_runtime_that_was_dropped_by_its_task_stops_that_task_too) {
  ledger frames;
  shared_gate never;
  std::optional<skua::runtime> rt(start_watched());
  const auto drops = [&](entry) -> task<> {
    rt.reset();
    co_await shared_gate::wait(never);
    ADD_FAILURE() << "went on";
  };
  EXPECT_THROW(rt->block_on(drops(entry(frames))), skua::task_cancelled);
  await_threads();
  EXPECT_TRUE(frames.balanced(1));
}

TEST_P(left_alone, a_runtime_may_be_dropped_by_a_task_that_nobody_waits_for) {
  if (!multi()) GTEST_SKIP() << "somebody drives it, and that is block_on";
  ledger frames;
  shared_gate never;
  std::optional<skua::runtime> rt(start_watched());
  for (int i = 0; i < 50; ++i) rt->spawn(hold_at(never, entry(frames))).detach();
  never.await_waiters(50);
  auto dropper = rt->spawn([&] { rt.reset(); });
  await_threads();
  EXPECT_TRUE(frames.balanced(50));
  EXPECT_TRUE(skua::sync_wait(dropper.outcome()).has_value());
  EXPECT_EQ(log.count(complaint), 1U);
}

TEST_P(left_alone, a_runtime_may_be_dropped_in_a_blocking_call) {
  ledger frames;
  shared_gate never;
  std::optional<skua::runtime> rt(start_watched());
  const auto drops = [&]() -> task<int> {
    auto child = spawn(hold_at(never, entry(frames)));
    while (never.waiters() < 1) co_await skua::yield();
    co_return co_await skua::spawn_blocking([&] {
      rt.reset();
      return 3;
    });
  };
  EXPECT_EQ(rt->block_on(drops), 3);
  await_threads();
  EXPECT_TRUE(frames.balanced(1));
  EXPECT_EQ(log.count(complaint), 1U);
}

TEST_P(left_alone, a_runtime_may_be_dropped_in_a_blocking_section) {
  if (!GetParam().steals()) GTEST_SKIP() << "there is none";
  ledger frames;
  shared_gate never;
  std::optional<skua::runtime> rt(start_watched());
  const auto drops = [&]() -> task<int> {
    auto child = spawn(hold_at(never, entry(frames)));
    while (never.waiters() < 1) co_await skua::yield();
    skua::block_in_place([&] { rt.reset(); });
    co_return 3;
  };
  EXPECT_EQ(rt->block_on(drops), 3);
  await_threads();
  EXPECT_TRUE(frames.balanced(1));
  EXPECT_EQ(log.count(complaint), 1U);
}

TEST_P(left_alone, a_runtime_that_was_dropped_by_itself_refuses_spawns) {
  ledger frames;
  shared_gate never;
  std::optional<skua::runtime> rt(start_watched());
  const skua::runtime::handle way_in = rt->get_handle();
  rt->block_on([&] { rt.reset(); });
  auto refused = way_in.spawn(hold_at(never, entry(frames)));
  EXPECT_TRUE(skua::sync_wait(refused.outcome()).stopped());
  EXPECT_TRUE(frames.balanced(1));
  await_threads();
}

TEST_P(left_alone, a_runtime_cannot_wait_for_its_end_in_its_own_task) {
  auto rt = start_watched();
  const auto waits = [&]() -> task<> {
    EXPECT_THROW(rt.shutdown(), std::logic_error);
    EXPECT_THROW(rt.shutdown(1ms), std::logic_error);
    co_await skua::spawn_blocking([&] { EXPECT_THROW(rt.shutdown(), std::logic_error); });
    const bool goes_on = !co_await skua::stop_requested();
    EXPECT_TRUE(goes_on) << "nothing was begun";
  };
  rt.block_on(waits);
}

INSTANTIATE_TEST_SUITE_P(runtimes, left_alone, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
