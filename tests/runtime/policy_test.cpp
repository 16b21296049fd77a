// tests/runtime/policy_test.cpp: exceptions that nobody sees, and hooks that throw.
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using skua::spawn;
using skua::task;
using skua_test::entry;
using skua_test::ledger;
using skua_test::shared_gate;
using skua_test::unseen_exception;

task<int> give(int value) {
  co_return value;
}

task<> fail() {
  throw std::runtime_error("broken pipe");
  co_return;
}

task<> wait_at(shared_gate& at, entry parameter) {
  co_await shared_gate::wait(at);
  EXPECT_TRUE(parameter.whole());
}

class unseen : public skua_test::for_each_kind {
protected:
  [[nodiscard]] skua::runtime start_that_shuts_down() {
    skua::config settings = skua_test::settings_of(GetParam(), log);
    settings.unhandled = skua::unhandled::shut_down;
    return skua_test::started(settings);
  }
};

TEST_P(unseen, exception_is_logged_with_all_that_is_known_of_the_task) {
  auto rt = start();
  std::uint64_t id = 0;
  std::source_location where;
  const auto spawns = [&]() -> task<> {
    where = std::source_location::current();
    auto child = spawn(skua::named("plumber", fail()));
    id = child.id();
    co_return;
  };
  rt.block_on(spawns);
  const auto records = log.with(unseen_exception);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].level, skua::log_level::error);
  EXPECT_EQ(records[0].fields.at("task"), std::to_string(id));
  EXPECT_EQ(records[0].fields.at("name"), "plumber");
  EXPECT_EQ(records[0].fields.at("file"), where.file_name());
  EXPECT_EQ(records[0].fields.at("line"), std::to_string(where.line() + 1));
  EXPECT_EQ(records[0].fields.at("what"), "broken pipe");
}

TEST_P(unseen, exception_of_any_type_is_logged) {
  auto rt = start();
  const auto spawns = []() -> task<> {
    spawn([] { throw 42; }).detach();
    co_return;
  };
  rt.block_on(spawns);
  const auto records = log.with(unseen_exception);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_NE(records[0].fields.at("what").find("not derived from std::exception"),
            std::string::npos);
}

TEST_P(unseen, exception_changes_nothing_else) {
  auto rt = start();
  const auto spawns = []() -> task<int> {
    for (int i = 0; i < 100; ++i) spawn(fail()).detach();
    co_return co_await spawn(give(3));
  };
  EXPECT_EQ(rt.block_on(spawns), 3);
  EXPECT_EQ(log.count(unseen_exception), 100U);
  EXPECT_EQ(rt.block_on(give(4)), 4);
}

TEST_P(unseen, exception_shuts_down_if_told_so) {
  auto rt = start_that_shuts_down();
  ledger frames;
  shared_gate never;
  const auto script = [&]() -> task<> {
    auto waits = spawn(wait_at(never, entry(frames)));
    spawn_background(wait_at(never, entry(frames))).detach();
    while (never.waiters() < 2) co_await skua::yield();
    spawn(fail()).detach();
    co_await std::move(waits);
    ADD_FAILURE() << "went on";
  };
  EXPECT_THROW(rt.block_on(script), skua::task_cancelled);
  EXPECT_EQ(log.count(unseen_exception), 1U);
  EXPECT_THROW(rt.block_on(give(1)), skua::task_cancelled) << "nothing more is accepted";
  EXPECT_TRUE(skua::sync_wait(rt.spawn(give(1)).outcome()).stopped());
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_TRUE(frames.balanced(2));
}

TEST_P(unseen, exception_in_a_handle_that_another_thread_drops_shuts_down_too) {
  auto rt = start_that_shuts_down();
  ledger frames;
  shared_gate never;
  rt.spawn(wait_at(never, entry(frames))).detach();
  auto failed = rt.spawn(fail());
  if (!multi()) rt.block_on(give(1));
  skua::sync_wait(failed.wait());
  never.await_waiters();
  EXPECT_EQ(log.count(unseen_exception), 0U);
  std::thread([&] { failed.detach(); }).join();
  EXPECT_EQ(log.count(unseen_exception), 1U);
  EXPECT_THROW(rt.block_on(give(1)), skua::task_cancelled);
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_TRUE(frames.balanced(1));
}

TEST_P(unseen, exceptions_of_many_tasks_at_once_are_all_logged) {
  auto rt = start_that_shuts_down();
  shared_gate at;
  ledger frames;
  const auto fails = [&]() -> task<> {
    co_await skua::shielded(wait_at(at, entry(frames)));
    throw std::runtime_error("all of us");
  };
  const auto script = [&]() -> task<> {
    for (int i = 0; i < 50; ++i) spawn(fails).detach();
    while (at.waiters() < 50) co_await skua::yield();
    at.open();
  };
  EXPECT_NO_THROW(rt.block_on(script));
  EXPECT_EQ(log.count(unseen_exception), 50U) << "they were past their last leaf";
  EXPECT_TRUE(rt.shutdown().complete());
  EXPECT_TRUE(frames.balanced(50));
}

/// Closed by the policy, but not ended yet.
TEST_P(unseen, exception_leaves_a_runtime_that_may_be_owned_by_tasks_it_refuses) {
  const auto owns = [](std::shared_ptr<skua::runtime> last) -> task<bool> {
    co_return last != nullptr;
  };
  const auto spawns = []() -> task<> {
    spawn(fail()).detach();
    co_return;
  };
  {
    auto rt = std::make_shared<skua::runtime>(start_that_shuts_down());
    const auto way_in = rt->get_handle();
    rt->block_on(spawns);
    auto last = owns(std::move(rt));
    auto refused = way_in.spawn(std::move(last));
    EXPECT_TRUE(skua::sync_wait(refused.outcome()).stopped());
  }
  auto rt = std::make_shared<skua::runtime>(start_that_shuts_down());
  skua::runtime& to_run_on = *rt;
  rt->block_on(spawns);
  auto last = owns(std::move(rt));
  EXPECT_THROW(static_cast<void>(to_run_on.block_on(std::move(last))), skua::task_cancelled);
}

TEST_P(unseen, exceptions_do_not_include_those_that_were_seen) {
  auto rt = start_that_shuts_down();
  const auto sees = []() -> task<int> {
    auto child = spawn(fail());
    try {
      co_await std::move(child);
    } catch (const std::runtime_error&) {
      co_return 1;
    }
    co_return 0;
  };
  EXPECT_EQ(rt.block_on(sees), 1);
  EXPECT_THROW(rt.block_on(fail()), std::runtime_error);
  EXPECT_EQ(rt.block_on(give(2)), 2) << "it goes on";
  EXPECT_EQ(log.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(runtimes, unseen, skua_test::every_kind(), skua_test::name_of_kind);

/// Throws in one of its functions, which it counts.
class throwing_hooks final : public skua::hooks {
public:
  enum which { thread_started_, thread_stops_, parks_, unparked_, spawned_, ended_, all };
  explicit throwing_hooks(which one) : which_(one) {}

  void thread_started(std::size_t) override { called(thread_started_); }
  void thread_stops(std::size_t) override { called(thread_stops_); }
  void worker_parks(std::size_t) override { called(parks_); }
  void worker_unparked(std::size_t) override { called(unparked_); }
  void task_spawned(std::uint64_t) override { called(spawned_); }
  void task_ended(std::uint64_t) override { called(ended_); }

  std::atomic<std::size_t> thrown = 0;

private:
  void called(which one) {
    if (which_ != one && which_ != all) return;
    ++thrown;
    throw std::runtime_error("a hook");
  }
  which which_;
};

class hook : public skua_test::for_each_kind {};

/// Spawns, waits, and lets the workers have nothing to do for a moment.
task<int> use_all(shared_gate& at) {
  const auto waits = [&]() -> task<int> {
    co_await shared_gate::wait(at);
    co_return 6;
  };
  auto child = spawn(waits);
  while (at.waiters() == 0) co_await skua::yield();
  co_await skua::spawn_blocking([&] { at.open(); });
  co_return co_await std::move(child);
}

TEST_P(hook, that_throws_is_logged_and_harmless) {
  for (int which = throwing_hooks::thread_started_; which <= throwing_hooks::all; ++which) {
    skua_test::log_recorder records;
    throwing_hooks hooks{static_cast<throwing_hooks::which>(which)};
    {
      skua::config settings = skua_test::settings_of(GetParam(), records);
      settings.hooks = &hooks;
      auto rt = skua_test::started(settings);
      for (int i = 0; i < 10; ++i) {
        shared_gate at;
        EXPECT_EQ(rt.block_on(use_all(at)), 6);
      }
      EXPECT_TRUE(rt.shutdown().complete());
    }
    const bool of_threads =
        which == throwing_hooks::thread_started_ || which == throwing_hooks::thread_stops_;
    if (multi() || !of_threads) {
      EXPECT_GT(hooks.thrown, 0U) << "hook " << which;
    }
    EXPECT_EQ(records.count("a hook has thrown"), hooks.thrown);
    EXPECT_EQ(records.size(), hooks.thrown);
  }
}

INSTANTIATE_TEST_SUITE_P(runtimes, hook, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
