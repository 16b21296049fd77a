// tests/runtime/misuse_test.cpp: what cannot work says so in words, and leaves all as it was.
#include "skua/skua.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace {

using skua::spawn;
using skua::task;
using skua_test::entry;
using skua_test::ledger;
using skua_test::shared_gate;
using testing::AllOf;
using testing::HasSubstr;

class misuse : public skua_test::for_each_kind {};

/// The text of the std::logic_error that `does` throws; anything else is passed on.
template <typename Does>
std::string complaint_of(Does&& does) {
  try {
    static_cast<void>(does());
  } catch (const std::logic_error& thrown) {
    return thrown.what();
  }
  return "nothing thrown";
}

task<int> give(int value) {
  co_return value;
}

task<int> keep(entry parameter) {
  co_return parameter.whole() ? 1 : 0;
}

task<> wait_at(shared_gate& at) {
  co_await shared_gate::wait(at);
}

const auto of_block_on_in_a_task = AllOf(HasSubstr("block_on"), HasSubstr("worker"),
                                         HasSubstr("co_await"), HasSubstr("spawn_blocking"));
const auto of_spawn_outside = AllOf(HasSubstr("spawn"), HasSubstr("runtime_handle"));

TEST_P(misuse, block_on_in_a_task) {
  auto rt = start();
  ledger frames;
  const auto blocks = [&]() -> task<int> {
    EXPECT_THAT(complaint_of([&] { return rt.block_on(keep(entry(frames))); }),
                of_block_on_in_a_task);
    EXPECT_THAT(complaint_of([&] { return rt.wait_all(keep(entry(frames)), give(1)); }),
                of_block_on_in_a_task);
    EXPECT_TRUE(frames.balanced(2));
    co_return co_await spawn(give(3));  // the task goes on as if nothing had been
  };
  EXPECT_EQ(rt.block_on(blocks), 3);
}

TEST_P(misuse, block_on_of_another_runtime_in_a_task) {
  for (const auto& kind : skua_test::all_kinds) {
    auto rt = start();
    auto other = skua_test::started(kind, log);
    const auto blocks = [&]() -> task<int> {
      EXPECT_THAT(complaint_of([&] { return other.block_on(give(1)); }), of_block_on_in_a_task);
      co_return co_await spawn(give(3));
    };
    EXPECT_EQ(rt.block_on(blocks), 3);
    EXPECT_EQ(other.block_on(give(4)), 4);
  }
}

TEST_P(misuse, run_in_a_task) {
  auto rt = start();
  const auto blocks = []() -> task<int> {
    EXPECT_THAT(complaint_of([] { return skua::run(give(1)); }), of_block_on_in_a_task);
    co_return co_await spawn(give(3));
  };
  EXPECT_EQ(rt.block_on(blocks), 3);
}

TEST_P(misuse, block_on_of_a_current_thread_runtime_that_another_thread_drives) {
  if (multi()) GTEST_SKIP() << "many may";
  auto rt = start();
  shared_gate until;
  ledger frames;
  {
    const std::jthread drives([&] { rt.block_on(wait_at(until)); });
    until.await_waiters();
    EXPECT_THAT(complaint_of([&] { return rt.block_on(keep(entry(frames))); }),
                AllOf(HasSubstr("another thread"), HasSubstr("current_thread")));
    EXPECT_TRUE(frames.balanced(1));
    until.open();
  }
  EXPECT_EQ(rt.block_on(give(1)), 1) << "when that one has ended, it works";
}

TEST_P(misuse, block_on_in_a_blocking_call_of_a_current_thread_runtime) {
  auto rt = start();
  const auto blocks = [&] { return complaint_of([&] { return rt.block_on(give(1)); }); };
  const std::string got = rt.block_on(skua::spawn_blocking(blocks));
  if (multi())
    EXPECT_EQ(got, "nothing thrown") << "there it may block";
  else
    EXPECT_THAT(got, HasSubstr("another thread"));
}

TEST(misuse_without_a_runtime, spawn) {
  ledger frames;
  EXPECT_THAT(complaint_of([&] { spawn(keep(entry(frames))); }), of_spawn_outside);
  EXPECT_THAT(complaint_of([&] { spawn(keep, entry(frames)); }), of_spawn_outside);
  EXPECT_THAT(complaint_of([&] { skua::spawn_background(keep(entry(frames))); }), of_spawn_outside);
  EXPECT_THAT(complaint_of([&] { skua::spawn_local(keep(entry(frames))); }), of_spawn_outside);
  EXPECT_THAT(complaint_of([&] { return skua::try_spawn(keep(entry(frames))); }), of_spawn_outside);
  EXPECT_TRUE(frames.balanced(5)) << "what was to be spawned is destroyed";
  EXPECT_THAT(complaint_of([] { return skua::runtime_handle::current(); }),
              AllOf(HasSubstr("runtime_handle::current"), HasSubstr("no task")));
}

TEST(misuse_without_a_runtime, spawn_in_sync_wait) {
  const auto spawns = []() -> task<> {
    EXPECT_THAT(complaint_of([] { spawn(give(1)); }), of_spawn_outside);
    co_return;
  };
  skua::sync_wait(spawns());
}

TEST_P(misuse, spawn_after_the_thread_has_left_the_runtime) {
  auto rt = start();
  EXPECT_EQ(rt.block_on(give(1)), 1);
  EXPECT_THAT(complaint_of([] { spawn(give(1)); }), of_spawn_outside);
  rt.shutdown();
  EXPECT_THAT(complaint_of([] { spawn(give(1)); }), of_spawn_outside);
}

TEST_P(misuse, spawn_local_where_the_thread_is_no_worker) {
  auto rt = start();
  ledger frames;
  const auto says = AllOf(HasSubstr("spawn_local"), HasSubstr("no worker"));
  const auto spawns = [&] {
    EXPECT_THAT(complaint_of([&] { skua::spawn_local(keep(entry(frames))); }), says);
  };
  rt.block_on(skua::spawn_blocking(spawns));
  if (GetParam().steals()) rt.block_on([&] { skua::block_in_place(spawns); });
  EXPECT_TRUE(frames.balanced(GetParam().steals() ? 2 : 1));
}

TEST_P(misuse, block_in_place_where_workers_keep_their_thread) {
  if (GetParam().steals()) GTEST_SKIP() << "there it works";
  auto rt = start();
  bool called = false;
  const auto blocks = [&]() -> task<int> {
    EXPECT_THAT(complaint_of([&] { skua::block_in_place([&] { called = true; }); }),
                AllOf(HasSubstr("block_in_place"),
                      HasSubstr(multi() ? "thread_per_core" : "current_thread"),
                      HasSubstr("spawn_blocking")));
    co_return co_await spawn(give(3));
  };
  EXPECT_EQ(rt.block_on(blocks), 3);
  EXPECT_FALSE(called);
}

TEST_P(misuse, block_on_after_a_blocking_section) {
  if (!GetParam().steals()) GTEST_SKIP() << "has none";
  auto rt = start();
  rt.block_on([&]() -> task<> {
    std::atomic<bool> runs = false;
    spawn([&runs] { runs = true; }).detach();
    skua::block_in_place([&] {  // until a substitute has begun, if there is one worker
      while (!runs) std::this_thread::yield();
    });
    EXPECT_THAT(complaint_of([&] { return rt.block_on(give(1)); }), of_block_on_in_a_task);
    co_return;
  });
}

TEST_P(misuse, shutdown_beneath_another_runtime) {
  auto rt = start();
  auto other = skua_test::started(skua_test::alone, log);
  std::string complaint;
  rt.block_on([&]() -> task<> {
    co_await skua::spawn_blocking(
        [](skua::runtime& outer, skua::runtime& inner, std::string& text) {
          inner.block_on([&] { text = complaint_of([&] { return outer.shutdown(); }); });
        },
        std::ref(rt), std::ref(other), std::ref(complaint));
  });
  EXPECT_THAT(complaint, AllOf(HasSubstr("shutdown"), HasSubstr("own tasks")));
}

/// What `call` throws in a stop callback that shutdown() runs.
template <typename Call>
std::string complaint_in_stop_callback(skua::runtime& rt, bool multi, Call call) {
  std::string complaint;
  shared_gate never;
  rt.spawn([&]() -> task<> {
      const std::stop_callback on_stop(co_await skua::current_stop_token(),
                                       [&] { complaint = complaint_of(call); });
      co_await shared_gate::wait(never);
    }).detach();
  if (multi)
    never.await_waiters(1);
  else
    rt.block_on([&]() -> task<> {
      while (never.waiters() == 0) co_await skua::yield();
    });
  EXPECT_TRUE(rt.shutdown().complete());
  return complaint;
}

TEST_P(misuse, shutdown_by_a_stop_callback_of_itself) {
  auto rt = start();
  EXPECT_THAT(complaint_in_stop_callback(rt, multi(), [&] { return rt.shutdown(); }),
              AllOf(HasSubstr("shutdown"), HasSubstr("stop callback")));
}

TEST_P(misuse, drain_by_a_stop_callback_of_a_shutdown) {
  auto rt = start();
  EXPECT_THAT(complaint_in_stop_callback(rt, multi(), [&] { return rt.drain(); }),
              AllOf(HasSubstr("drain"), HasSubstr("stop callback")));
}

task<> give_way_in_a_section() {
  const skua::blocking_section elsewhere;
  co_await skua::yield();
}

TEST_P(misuse, a_blocking_section_around_a_wait) {
  if (!GetParam().steals()) GTEST_SKIP() << "has none";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(start().block_on(give_way_in_a_section()), "nothing is awaited inside");
}

TEST_P(misuse, a_runtime_and_a_handle_that_were_moved_from) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto rt = start();
  auto way_in = rt.get_handle();
  const auto taken = std::move(way_in);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_DEATH(static_cast<void>(way_in.metrics()), "after it was moved from");
  EXPECT_DEATH(way_in.spawn(give(1)).detach(), "after it was moved from");
  auto moved = std::move(rt);
  EXPECT_DEATH(static_cast<void>(rt.block_on(give(1))), "after it was moved from");
  EXPECT_DEATH(static_cast<void>(rt.shutdown()), "after it was moved from");
  task<int> gone = give(1);
  auto kept = std::move(gone);
  EXPECT_DEATH(static_cast<void>(moved.wait_all(std::move(gone), give(2))), "moved from");
  // NOLINTEND(bugprone-use-after-move)
}

TEST_P(misuse, a_task_that_was_moved_from) {
  auto rt = start();
  auto once = give(1);
  EXPECT_EQ(rt.block_on(std::move(once)), 1);
  if (multi()) return;  // a death test wants few threads
  EXPECT_DEATH(static_cast<void>(rt.block_on(std::move(once))), "awaited or spawned once");
  EXPECT_DEATH(rt.spawn(std::move(once)).detach(), "awaited or spawned once");
}

INSTANTIATE_TEST_SUITE_P(runtimes, misuse, skua_test::every_kind(), skua_test::name_of_kind);

}  // namespace
