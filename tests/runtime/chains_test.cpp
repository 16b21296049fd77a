// tests/runtime/chains_test.cpp: runtime::tasks() shows who awaits whom, and disturbs nobody.
#include "skua/coro/await_chain.hpp"
#include "skua/runtime/task_info.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/own_frame.hpp"
#include "support/shared_gate.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <thread>
#include <vector>

namespace {

using skua::spawn;
using skua::task;
using skua::task_info;
using skua_test::kind;
using skua_test::own_frame;
using skua_test::shared_gate;
using skua_test::started;
using state = skua::task_info::state;

class chains : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(every, chains, skua_test::every_kind(), skua_test::name_of_kind);

/// Where the frames of a test lie, outermost first, and what the innermost waits for.
struct scene {
  shared_gate at;
  std::vector<const void*> frames;
};

task<> inner(scene& all) {
  co_await own_frame(all.frames);
  co_await shared_gate::wait(all.at);
}
task<> middle(scene& all) {
  co_await own_frame(all.frames);
  co_await inner(all);
}
task<> outer(scene& all) {
  co_await own_frame(all.frames);
  co_await middle(all);
}
task<> nest(scene& all, int depth) {
  co_await own_frame(all.frames);
  if (depth > 0)
    co_await nest(all, depth - 1);
  else
    co_await shared_gate::wait(all.at);
}

/// The task with this id, as soon as it waits: it may be on its way to sleep still.
task<task_info> info_of_waiting(std::uint64_t id) {
  for (;;) {
    for (const task_info& one : skua::runtime_handle::current().tasks())
      if (one.id == id && one.now == state::waiting) co_return one;
    co_await skua::yield();
  }
}

TEST_P(chains, have_the_frames_of_a_task_that_waits_innermost_first) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    scene all;
    auto handle = spawn(outer(all));
    const task_info seen = co_await info_of_waiting(handle.id());
    EXPECT_EQ(seen.chain_length, 3U);
    EXPECT_EQ(all.frames.size(), 3U);
    std::set<const void*> functions;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(seen.chain[i].frame, all.frames[2 - i]);
      functions.insert(seen.chain[i].resume_function);
    }
    EXPECT_EQ(functions.size(), 3U);
    EXPECT_FALSE(functions.contains(nullptr));
    all.at.open();
    co_await std::move(handle);
  };
  rt.block_on(body());
}

TEST_P(chains, have_at_most_so_many_frames_and_tell_how_many_there_are) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    scene all;
    auto handle = spawn(nest(all, 39));
    const task_info seen = co_await info_of_waiting(handle.id());
    EXPECT_EQ(seen.chain_length, 40U);
    for (std::size_t i = 0; i < task_info::chain_max; ++i)
      EXPECT_EQ(seen.chain[i].frame, all.frames[39 - i]);
    all.at.open();
    co_await std::move(handle);
  };
  rt.block_on(body());
}

TEST_P(chains, are_there_while_a_task_waits_for_another_or_for_a_call) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    scene all;
    std::atomic<bool> go_on = false;
    auto target = spawn(inner(all));
    auto joins = [](skua::join_handle<void>& whom) -> task<> { co_await whom.wait(); };
    auto joiner = spawn(joins(target));
    auto call = [](std::atomic<bool>& go) { go.wait(false); };
    auto caller = spawn(skua::spawn_blocking(call, std::ref(go_on)));
    EXPECT_EQ((co_await info_of_waiting(target.id())).chain_length, 1U);
    EXPECT_EQ((co_await info_of_waiting(joiner.id())).chain_length, 1U);
    EXPECT_EQ((co_await info_of_waiting(caller.id())).chain_length, 1U);
    go_on = true;
    go_on.notify_all();
    all.at.open();
    co_await std::move(joiner);
    co_await std::move(caller);
    EXPECT_TRUE(target.done());
  };
  rt.block_on(body());
}

TEST_P(chains, are_shown_of_a_task_that_was_stopped_behind_a_shield) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    scene all;
    auto guarded = [](scene& of) -> task<> { co_await skua::shielded(inner(of)); };
    auto handle = spawn(guarded(all));
    EXPECT_EQ((co_await info_of_waiting(handle.id())).chain_length, 3U);
    handle.abort();
    EXPECT_EQ((co_await info_of_waiting(handle.id())).chain_length, 3U);
    all.at.open();
    co_await handle.wait();
  };
  rt.block_on(body());
}

/// Looks at everything, over and over, on a thread of its own.
class onlooker {
public:
  explicit onlooker(const skua::runtime_handle& whom)
      : thread_([this, whom] {
          while (!over_) looks_ += whom.tasks().size() < 1'000'000 ? 1 : 0;
        }) {
    while (looks_ == 0) std::this_thread::yield();  // it looks from the beginning on
  }
  onlooker(const onlooker&) = delete;
  onlooker& operator=(const onlooker&) = delete;
  ~onlooker() {
    over_ = true;
    thread_.join();
  }

private:
  std::atomic<bool> over_ = false;
  std::atomic<std::uint64_t> looks_ = 0;
  std::thread thread_;
};

task<> passes_on(shared_gate& mine, shared_gate& next, int times) {
  for (int i = 0; i < times; ++i) {
    next.let_one_through();
    co_await shared_gate::wait(mine);
  }
  next.let_one_through();
}

task<> pair_of(int times) {
  shared_gate first;
  shared_gate second;
  auto one = spawn(passes_on(first, second, times));
  auto two = spawn(passes_on(second, first, times));
  co_await std::move(one);
  co_await std::move(two);
}

TEST_P(chains, are_looked_at_without_losing_a_wake) {
  auto rt = started(GetParam().settings());
  const onlooker one(rt.get_handle());
  const onlooker two(rt.get_handle());
  const skua_test::budget time(0.5);
  auto body = []() -> task<> {
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 8; ++i) all.push_back(spawn(pair_of(100)));
    for (auto& each : all) co_await std::move(each);
  };
  while (time.left()) rt.block_on(body());
}

task<> stops_at(scene& all) {
  co_await shared_gate::wait(all.at);
}

TEST_P(chains, are_looked_at_without_losing_a_stop) {
  auto rt = started(GetParam().settings());
  const onlooker one(rt.get_handle());
  const onlooker two(rt.get_handle());
  const skua_test::budget time(0.5);
  auto body = []() -> task<> {
    scene closed;
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 50; ++i) all.push_back(spawn(stops_at(closed)));
    closed.at.let_one_through();
    for (auto& each : all) each.abort();
    int stopped = 0;
    for (auto& each : all) stopped += (co_await each.outcome()).stopped() ? 1 : 0;
    EXPECT_GE(stopped, 49);
  };
  while (time.left()) rt.block_on(body());
}

}  // namespace
