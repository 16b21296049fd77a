// tests/runtime/fork_test.cpp: a forked child cannot use the runtime of its parent, and is told so.
#include "skua/base/sanitizer.hpp"
#include "skua/skua.hpp"
#include "support/forked.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using skua::spawn;
using skua::task;
using skua_test::entry;
using skua_test::forked;
using skua_test::ledger;
using skua_test::shared_gate;
using testing::HasSubstr;

task<int> give(int value) {
  co_return value;
}

task<int> keep(entry parameter) {
  co_return parameter.whole() ? 1 : 0;
}

task<> hold_at(shared_gate& at, entry parameter) {
  co_await shared_gate::wait(at);
  EXPECT_TRUE(parameter.whole());
}

class in_a_forked_child : public skua_test::for_each_kind {
protected:
  void SetUp() override {
    if (skua::built_with_tsan) GTEST_SKIP() << "does not follow a fork of several threads";
  }

  /// A child that does this and ends.
  template <typename Does>
  static void expect_well(Does does) {
    forked child;
    if (child.fork()) {
      does();
      _exit(0);
    }
    child.join();
    EXPECT_TRUE(child.exited_well()) << child.end();
  }
};

/// In a child: ends it unless `does` throws std::logic_error that names the parent.
template <typename Does>
void expect_refused(pid_t parent, Does does) {
  try {
    does();
  } catch (const std::logic_error& thrown) {
    const std::string text = thrown.what();
    if (text.find("process " + std::to_string(parent)) != std::string::npos &&
        text.find("forked child") != std::string::npos)
      return;
    std::fputs(thrown.what(), stderr);
    _exit(2);
  }
  std::fputs("nothing thrown", stderr);
  _exit(1);
}

void expect(bool condition, const char* what) {
  if (condition) return;
  std::fputs(what, stderr);
  _exit(3);
}

TEST_P(in_a_forked_child, spawn_and_block_on_are_refused) {
  auto rt = start();
  const auto way_in = rt.get_handle();
  const pid_t parent = getpid();
  expect_well([&] {
    ledger frames;
    expect_refused(parent, [&] { rt.spawn(keep(entry(frames))).detach(); });
    expect_refused(parent, [&] { way_in.spawn(keep(entry(frames))).detach(); });
    expect_refused(parent, [&] { static_cast<void>(way_in.try_spawn(keep(entry(frames)))); });
    expect_refused(parent, [&] { static_cast<void>(rt.block_on(keep(entry(frames)))); });
    expect_refused(parent, [&] { static_cast<void>(rt.wait_all(keep(entry(frames)))); });
    expect(frames.balanced(5), "what was refused is not destroyed");
  });
  EXPECT_EQ(rt.block_on(give(1)), 1) << "the parent goes on";
}

TEST_P(in_a_forked_child, of_a_task_spawn_is_refused) {
  auto rt = start();
  const pid_t parent = getpid();
  forked child;
  const auto forks = [&]() -> task<int> {
    if (child.fork()) {
      ledger frames;
      expect_refused(parent, [&] { spawn(keep(entry(frames))).detach(); });
      expect_refused(parent, [&] { skua::spawn_background(keep(entry(frames))).detach(); });
      expect_refused(parent, [&] { skua::spawn_local(keep(entry(frames))).detach(); });
      expect_refused(parent, [&] { static_cast<void>(skua::try_spawn(keep(entry(frames)))); });
      expect(frames.balanced(4), "what was refused is not destroyed");
      _exit(0);
    }
    co_return co_await spawn(give(2));
  };
  EXPECT_EQ(rt.block_on(forks), 2);
  child.join();
  EXPECT_TRUE(child.exited_well()) << child.end();
}

TEST_P(in_a_forked_child, an_idle_runtime_can_be_destroyed) {
  std::optional<skua::runtime> rt(start());
  EXPECT_EQ(rt->block_on(give(1)), 1);
  expect_well([&] { rt.reset(); });
  expect_well([&] { expect(rt->shutdown().complete(), "there is nothing to shut down"); });
  EXPECT_EQ(rt->block_on(give(1)), 1);
}

TEST_P(in_a_forked_child, a_runtime_with_live_tasks_can_be_destroyed) {
  shared_gate never;
  ledger frames;
  std::optional<skua::runtime> rt(start());
  std::optional<skua::join_handle<void>> held(rt->spawn(hold_at(never, entry(frames))));
  if (!multi()) rt->block_on([]() -> task<> { co_await skua::yield(); });
  never.await_waiters();
  if (!multi()) rt->spawn(hold_at(never, entry(frames))).detach();  // has not started
  expect_well([&] {
    rt.reset();
    held.reset();
  });
  expect_well([&] {
    held.reset();
    rt.reset();
  });
  rt.reset();
  EXPECT_TRUE(frames.balanced(multi() ? 1 : 2)) << "in the parent all is as it was";
}

TEST_P(in_a_forked_child, a_handle_that_outlives_the_runtime_can_be_dropped) {
  std::optional<skua::runtime> rt(start());
  const auto way_in = rt->get_handle();
  std::optional<skua::join_handle<int>> ended(rt->spawn(give(4)));
  rt->block_on(give(0));
  skua::sync_wait(ended->wait());
  rt.reset();
  expect_well([&] { ended.reset(); });
  expect_well([&] { expect(*skua::sync_wait(ended->outcome()) == 4, "not the value"); });
}

TEST_P(in_a_forked_child, of_a_task_the_runtime_can_be_destroyed) {
  shared_gate never;
  ledger frames;
  std::optional<skua::runtime> rt(start());
  forked child;
  const auto forks = [&]() -> task<> {
    auto waits = spawn(hold_at(never, entry(frames)));
    while (never.waiters() == 0) co_await skua::yield();
    if (child.fork()) {
      rt.reset();
      _exit(0);
    }
    waits.abort();
  };
  rt->block_on(forks);
  child.join();
  EXPECT_TRUE(child.exited_well()) << child.end();
}

/// What the loop says of itself.
constexpr const char* words = "a forked child does not run the tasks of its parent";

TEST_P(in_a_forked_child, of_a_task_that_waits_the_loop_aborts) {
  shared_gate at;
  auto rt = start();
  forked child;
  const auto forks = [&]() -> task<> {
    if (child.fork()) {
      co_await shared_gate::wait(at);  // nobody will open it here
      _exit(0);
    }
  };
  rt.block_on(forks);
  child.join();
  EXPECT_TRUE(child.aborted()) << child.end();
  EXPECT_THAT(child.said(), HasSubstr(words));
}

TEST_P(in_a_forked_child, of_a_task_that_gives_way_the_loop_aborts) {
  auto rt = start();
  forked child;
  const auto forks = [&]() -> task<> {
    if (child.fork())
      for (;;) co_await skua::yield();
  };
  rt.block_on(forks);
  child.join();
  EXPECT_TRUE(child.aborted()) << child.end();
  EXPECT_THAT(child.said(), HasSubstr(words));
}

TEST_P(in_a_forked_child, no_other_task_of_the_parent_runs) {
  auto rt = start();
  const pid_t parent = getpid();
  forked child;
  const auto other = [&]() -> task<> {
    if (getpid() != parent) {
      std::fputs("another task of the parent ran", stderr);
      _exit(4);
    }
    co_return;
  };
  const auto forks = [&]() -> task<> {
    spawn(other).detach();
    spawn(other).detach();
    if (child.fork()) co_await skua::yield();
  };
  rt.block_on(forks);
  child.join();
  EXPECT_TRUE(child.aborted()) << child.end();
}

TEST_P(in_a_forked_child, a_runtime_of_its_own_works) {
  auto rt = start();
  EXPECT_EQ(rt.block_on(give(1)), 1);
  expect_well([&] {
    skua_test::log_recorder own_log;
    auto own = skua_test::started(GetParam(), own_log);
    expect(own.block_on(give(7)) == 7, "not the value");
  });
}

INSTANTIATE_TEST_SUITE_P(runtimes, in_a_forked_child, skua_test::every_kind(),
                         skua_test::name_of_kind);

}  // namespace
