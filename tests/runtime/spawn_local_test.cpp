// tests/runtime/spawn_local_test.cpp: a pinned task runs on its worker's thread, and nowhere else.
#include "skua/skua.hpp"
#include "support/shared_gate.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using skua::spawn;
using skua::spawn_local;
using skua::task;
using skua_test::kind;
using skua_test::shared_gate;
using skua_test::started;

class pinned : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(every, pinned, skua_test::every_kind(), skua_test::name_of_kind);

std::thread::id this_thread() {
  return std::this_thread::get_id();
}

task<> nothing() {
  co_return;
}

/// A count that threads wait for; the tasks of these tests block their thread in it on purpose.
class headcount {
public:
  void arrive() {
    ++count_;
    count_.notify_all();
  }
  void wait_for(int all) {
    for (int seen = count_; seen < all; seen = count_) count_.wait(seen);
  }

private:
  std::atomic<int> count_ = 0;
};

TEST_P(pinned, tasks_give_what_they_give) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    auto value = []() -> task<std::string> { co_return "value"; };
    auto fails = []() -> task<> {
      throw std::runtime_error("on purpose");
      co_return;
    };
    EXPECT_EQ(co_await spawn_local(value()), "value");
    auto plain = [] { return 5; };
    EXPECT_EQ(co_await spawn_local(plain), 5);
    EXPECT_THROW(co_await spawn_local(fails()), std::runtime_error);
  };
  rt.block_on(body());
}

/// Waits for all kinds of things, and looks after each where it is.
task<> wanders(std::atomic<int>& elsewhere) {
  const auto home = this_thread();
  const auto look = [&] { elsewhere += this_thread() == home ? 0 : 1; };
  shared_gate door;
  for (int i = 0; i < 20; ++i) {
    co_await skua::yield();
    look();
    co_await spawn(nothing());
    look();
    auto open = [](shared_gate& it) { it.open(); };
    co_await skua::spawn_blocking(open, std::ref(door));
    look();
    co_await shared_gate::wait(door);
    look();
    co_await spawn_local(nothing());
    look();
    for (int n = 0; n < 200; ++n) co_await skua::consume_budget();
    look();
  }
}

task<> churns() {
  for (int i = 0; i < 200; ++i) co_await spawn(nothing());
}

TEST_P(pinned, tasks_stay_on_their_thread_while_others_are_stolen) {
  auto rt = started(GetParam().settings());
  std::atomic<int> elsewhere = 0;
  auto spawner = [](std::atomic<int>& count) -> task<> {
    for (int i = 0; i < 3; ++i) {
      co_await spawn_local(wanders(count));
      co_await churns();
    }
  };
  auto body = [](decltype(spawner)& make, std::atomic<int>& count) -> task<> {
    for (int i = 0; i < 10; ++i) {
      spawn(make(count));
      spawn(churns());
    }
    co_return;
  };
  rt.block_on(body(spawner, elsewhere));
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(pinned, tasks_begin_on_the_thread_of_whoever_spawned_them) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    for (int i = 0; i < 100; ++i) {
      const auto here = this_thread();  // before the await: this one may be elsewhere after it
      auto where = []() -> task<std::thread::id> { co_return this_thread(); };
      EXPECT_EQ(co_await spawn_local(where()), here);
    }
  };
  rt.block_on(body());
}

/// Runs `what` on every worker, at the same time.
template <typename What>
task<> on_every_worker(std::size_t workers, What& what) {
  headcount there;
  auto one = [](What& does, headcount& all, int count) -> task<> {
    all.arrive();
    all.wait_for(count);
    does();
    co_return;
  };
  std::vector<skua::join_handle<void>> all;
  all.reserve(workers);
  for (std::size_t i = 0; i < workers; ++i)
    all.push_back(skua::spawn_on(i, one(what, there, static_cast<int>(workers))));
  for (auto& each : all) co_await std::move(each);
}

TEST_P(pinned, tasks_of_every_worker_are_woken_by_other_threads_while_their_worker_sleeps) {
  const std::size_t workers = GetParam().workers;
  auto rt = started(GetParam().settings());
  shared_gate doors[50];
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> elsewhere = 0;
  auto waiter = [&]() -> task<> {
    const auto home = this_thread();
    {
      const std::lock_guard hold(mutex);
      threads.insert(home);
    }
    for (shared_gate& door : doors) {
      co_await shared_gate::wait(door);
      elsewhere += this_thread() == home ? 0 : 1;
    }
  };
  auto spawns = [&] { spawn_local(waiter()); };
  std::thread opener([&] {
    for (shared_gate& door : doors) {
      door.await_waiters(workers);
      door.open();
    }
  });
  rt.block_on(on_every_worker(workers, spawns));
  opener.join();
  EXPECT_EQ(threads.size(), workers);
  EXPECT_EQ(elsewhere, 0);
}

/// Notes where it was destroyed.
class grave {
public:
  grave(std::thread::id born, std::atomic<int>& at_home) : born_(born), at_home_(at_home) {}
  grave(const grave&) = delete;
  grave& operator=(const grave&) = delete;
  ~grave() { at_home_ += this_thread() == born_ ? 1 : 0; }

private:
  std::thread::id born_;
  std::atomic<int>& at_home_;
};

task<> waits_for_ever(shared_gate& closed, std::atomic<int>& unwound_at_home) {
  const grave mine(this_thread(), unwound_at_home);
  co_await shared_gate::wait(closed);
}

TEST_P(pinned, tasks_that_are_aborted_unwind_on_their_thread) {
  auto rt = started(GetParam().settings());
  shared_gate closed;
  std::atomic<int> unwound = 0;
  auto body = [](shared_gate& at, std::atomic<int>& count) -> task<> {
    auto by_task = spawn_local(waits_for_ever(at, count));
    auto by_thread = spawn_local(waits_for_ever(at, count));
    while (at.waiters() < 2) co_await skua::yield();
    EXPECT_TRUE(by_task.abort());
    std::thread([&] { EXPECT_TRUE(by_thread.abort()); }).join();
    EXPECT_TRUE((co_await by_task.outcome()).stopped());
    EXPECT_TRUE((co_await by_thread.outcome()).stopped());
    auto unstarted = spawn_local(waits_for_ever(at, count));
    unstarted.abort();
    EXPECT_TRUE((co_await unstarted.outcome()).stopped());
  };
  rt.block_on(body(closed, unwound));
  EXPECT_EQ(unwound, 2);
}

TEST_P(pinned, tasks_that_are_shut_down_unwind_on_their_thread) {
  auto rt = started(GetParam().settings());
  shared_gate closed;
  std::atomic<int> unwound = 0;
  const std::size_t workers = GetParam().workers;
  // In the background: block_on() does not wait for them.
  auto spawner = [](shared_gate& at, std::atomic<int>& count, std::size_t all) -> task<> {
    auto spawns = [&] { spawn_local(waits_for_ever(at, count)); };
    co_await on_every_worker(all, spawns);
  };
  auto body = [](task<> what) -> task<> {
    skua::spawn_background(std::move(what)).detach();
    co_return;
  };
  rt.block_on(body(spawner(closed, unwound, workers)));
  if (!GetParam().is_alone()) closed.await_waiters(workers);
  rt.shutdown();
  if (!GetParam().is_alone()) {
    EXPECT_EQ(unwound, workers);
  }
  EXPECT_EQ(closed.waiters(), 0U);
}

task<> takes(std::unique_ptr<int> /*mine*/, bool& ran) {
  ran = true;
  co_return;
}

TEST_P(pinned, tasks_cannot_be_spawned_where_there_is_no_worker) {
  auto rt = started(GetParam().settings());
  bool ran = false;
  EXPECT_THROW(spawn_local(takes(std::make_unique<int>(1), ran)), std::logic_error);
  auto body = [](bool& flag) -> task<> {
    auto call = [](bool& did) {
      EXPECT_THROW(spawn_local(takes(std::make_unique<int>(1), did)), std::logic_error);
    };
    co_await skua::spawn_blocking(call, std::ref(flag));
  };
  rt.block_on(body(ran));
  EXPECT_FALSE(ran);
}

class pinned_with_threads : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(multi, pinned_with_threads, skua_test::kinds_that_steal(),
                         skua_test::name_of_kind);

TEST_P(pinned_with_threads, tasks_cannot_be_spawned_inside_block_in_place) {
  auto rt = started(GetParam().settings());
  bool ran = false;
  auto body = [](bool& flag) -> task<> {
    skua::block_in_place([&] {
      EXPECT_THROW(spawn_local(takes(std::make_unique<int>(1), flag)), std::logic_error);
    });
    co_return;
  };
  rt.block_on(body(ran));
  EXPECT_FALSE(ran);
}

/// Blocks the calling task until another task has run on its worker, which takes a substitute.
/// For runtimes with one worker.
void block_until_another_ran() {
  const auto ran = std::make_shared<headcount>();
  auto other = [](std::shared_ptr<headcount> count) -> task<> {
    count->arrive();
    co_return;
  };
  skua::block_in_place([&] {
    spawn(other(ran));
    ran->wait_for(1);
  });
}

TEST(pinned_with_one_worker, tasks_wait_while_their_thread_is_in_block_in_place) {
  auto rt = started(skua_test::one_worker.settings());
  shared_gate door;
  bool ran = false;  // written and read on the home thread only
  auto local = [](shared_gate& at, bool& did, std::thread::id home) -> task<> {
    co_await shared_gate::wait(at);
    EXPECT_EQ(this_thread(), home);
    did = true;
  };
  auto body = [](decltype(local)& make, shared_gate& at, bool& did) -> task<> {
    spawn_local(make(at, did, this_thread()));
    while (at.waiters() == 0) co_await skua::yield();
    at.open();
    for (int i = 0; i < 10; ++i) block_until_another_ran();
    EXPECT_FALSE(did) << "it would have run on another thread";
  };
  rt.block_on(body(local, door, ran));
  EXPECT_TRUE(ran);
}

TEST(pinned_with_one_worker, tasks_may_block_in_place_themselves_and_go_on_where_they_were) {
  auto rt = started(skua_test::one_worker.settings());
  auto local = []() -> task<> {
    const auto home = this_thread();
    for (int i = 0; i < 100; ++i) {
      if (i % 2 == 0)
        block_until_another_ran();
      else
        skua::block_in_place([] {});
      EXPECT_EQ(this_thread(), home);
      co_await skua::yield();
      EXPECT_EQ(this_thread(), home);
    }
  };
  auto body = [](decltype(local)& make) -> task<> {
    auto one = spawn_local(make());
    auto two = spawn_local(make());
    co_await std::move(one);
    co_await std::move(two);
  };
  rt.block_on(body(local));
}

// The caller is on a worker, and in no blocking section; that another task is, it cannot know.
TEST(pinned_with_one_worker, tasks_can_be_spawned_while_another_task_is_in_block_in_place) {
  auto rt = started(skua_test::one_worker.settings());
  auto body = []() -> task<> {
    const auto home = this_thread();
    headcount spawned;
    auto where = []() -> task<std::thread::id> { co_return this_thread(); };
    auto spawner = [](decltype(where)& make, headcount& done) -> task<std::thread::id> {
      try {
        auto local = spawn_local(make());
        done.arrive();
        co_return co_await std::move(local);
      } catch (const std::logic_error& thrown) {
        ADD_FAILURE() << thrown.what();
        done.arrive();
        co_return this_thread();
      }
    };
    auto other = spawn(spawner(where, spawned));
    skua::block_in_place([&] { spawned.wait_for(1); });
    EXPECT_EQ(co_await std::move(other), home);
  };
  rt.block_on(body());
}

TEST(pinned_with_one_worker, tasks_can_be_spawned_after_block_in_place) {
  auto rt = started(skua_test::one_worker.settings());
  auto body = []() -> task<> {
    const auto home = this_thread();
    auto where = []() -> task<std::thread::id> { co_return this_thread(); };
    block_until_another_ran();
    EXPECT_NO_THROW({
      auto local = spawn_local(where());
      local.detach();
    });
    co_await skua::yield();
    EXPECT_EQ(co_await spawn_local(where()), home);
  };
  rt.block_on(body());
}

// A task that has lost its worker to a substitute must not keep the home thread for ever.
TEST(pinned_with_one_worker, tasks_have_their_turn_after_one_that_blocked_and_goes_on_and_on) {
  auto rt = started(skua_test::one_worker.settings());
  auto body = []() -> task<> {
    bool ran = false;
    auto local = [](bool& did) -> task<> {
      did = true;
      co_return;
    };
    auto handle = spawn_local(local(ran));
    block_until_another_ran();
    const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!ran && std::chrono::steady_clock::now() < patience) co_await skua::consume_budget();
    EXPECT_TRUE(ran);
    co_await std::move(handle);
  };
  rt.block_on(body());
}

}  // namespace
