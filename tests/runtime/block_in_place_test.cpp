// tests/runtime/block_in_place_test.cpp: while one task blocks, the others of its worker go on.
#include "skua/runtime/block_in_place.hpp"

#include "skua/base/random.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/shared_gate.hpp"
#include "support/started.hpp"
#include "support/thread_limit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using skua::block_in_place;
using skua::spawn;
using skua::task;
using skua_test::kind;
using skua_test::shared_gate;
using skua_test::started;

class in_place : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(multi, in_place, skua_test::kinds_that_steal(), skua_test::name_of_kind);

/// What one waits for and another does. Copies are the same event: whoever waits may be gone while
/// the other still tells others.
class event {
public:
  void happen() const {
    *happened_ = true;
    happened_->notify_all();
  }
  void wait() const { happened_->wait(false); }
  [[nodiscard]] bool has_happened() const { return *happened_; }

private:
  std::shared_ptr<std::atomic<bool>> happened_ = std::make_shared<std::atomic<bool>>(false);
};

task<> happens(event what) {
  what.happen();
  co_return;
}

void expect_results() {
  EXPECT_EQ(block_in_place([] { return 5; }), 5);
  int object = 1;
  int& reference = block_in_place([&]() -> int& { return object; });
  EXPECT_EQ(&reference, &object);
  static_assert(std::is_void_v<decltype(block_in_place([] {}))>);
  bool called = false;
  block_in_place([&] { called = true; });
  EXPECT_TRUE(called);
  auto owned = block_in_place([] { return std::make_unique<std::string>("text"); });
  EXPECT_EQ(*owned, "text");
  EXPECT_THROW(block_in_place([] { throw std::runtime_error("on purpose"); }), std::runtime_error);
}

TEST_P(in_place, gives_what_the_call_gives) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    for (int i = 0; i < 100; ++i) {
      expect_results();
      co_await skua::yield();
      expect_results();
    }
  };
  rt.block_on(body());
}

TEST(in_place_elsewhere, just_calls_outside_a_runtime_and_in_blocking_calls) {
  expect_results();
  auto rt = started(skua_test::one_worker.settings());
  auto body = []() -> task<> { co_await skua::spawn_blocking(expect_results); };
  rt.block_on(body());
}

TEST(in_place_elsewhere, is_refused_by_current_thread_which_has_no_other_thread) {
  auto rt = started(skua_test::alone.settings());
  auto body = []() -> task<> {
    bool called = false;
    EXPECT_THROW(block_in_place([&] { called = true; }), std::logic_error);
    EXPECT_FALSE(called);
    co_await spawn(happens(event()));
  };
  rt.block_on(body());
}

// The first waits in the ring, the second in the slot, the third comes while it blocks.
TEST(in_place_with_one_worker, lets_the_other_tasks_of_the_worker_go_on) {
  auto rt = started(skua_test::one_worker.settings());
  auto body = []() -> task<> {
    const event in_ring;
    const event in_slot;
    const event later;
    spawn(happens(in_ring));
    spawn(happens(in_slot));
    const auto here = std::this_thread::get_id();
    block_in_place([&] {
      in_ring.wait();
      in_slot.wait();
      spawn(happens(later));
      later.wait();
      EXPECT_EQ(std::this_thread::get_id(), here);
    });
    EXPECT_EQ(std::this_thread::get_id(), here);
    co_return;
  };
  for (int i = 0; i < 100; ++i) rt.block_on(body());
}

TEST_P(in_place, nests) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    const event first;
    const event second;
    spawn(happens(first));
    block_in_place([&] {
      block_in_place([&] {
        first.wait();
        spawn(happens(second));
      });
      second.wait();
    });
    const event third;
    spawn(happens(third));
    block_in_place([&] { third.wait(); });
    co_return;
  };
  for (int i = 0; i < 100; ++i) rt.block_on(body());
}

task<> blocks_until_the_next(int more, event mine) {
  const event next;
  if (more > 0) {
    spawn(blocks_until_the_next(more - 1, next));
    block_in_place([&] { next.wait(); });
  }
  mine.happen();
  co_return;
}

// Each but the first runs on a substitute for the one before.
TEST_P(in_place, works_on_a_thread_that_stands_in_for_another) {
  auto rt = started(GetParam().settings());
  for (int i = 0; i < 20; ++i) {
    const event all;
    rt.block_on(blocks_until_the_next(20, all));
    EXPECT_TRUE(all.has_happened());
  }
}

TEST_P(in_place, may_be_repeated_quickly_among_others) {
  auto rt = started(GetParam().settings());
  std::atomic<int> calls = 0;
  auto blocks = [](std::atomic<int>& count) -> task<> {
    for (int i = 0; i < 500; ++i) {
      block_in_place([&] { ++count; });
      if (i % 3 == 0) co_await skua::yield();
      if (i % 7 == 0) co_await spawn(happens(event()));
    }
  };
  auto body = [](decltype(blocks)& make, std::atomic<int>& count) -> task<> {
    for (int i = 0; i < 20; ++i) spawn(make(count));
    co_return;
  };
  rt.block_on(body(blocks, calls));
  EXPECT_EQ(calls, 10'000);
}

TEST_P(in_place, leaves_a_task_that_can_wait_and_be_stopped_afterwards) {
  auto rt = started(GetParam().settings());
  shared_gate closed;
  auto body = [](shared_gate& at) -> task<> {
    const event other;
    spawn(happens(other));
    block_in_place([&] { other.wait(); });
    EXPECT_EQ(co_await skua::spawn_blocking([] { return 5; }), 5);
    block_in_place([] {});
    co_await shared_gate::wait(at);
    ADD_FAILURE() << "it was asked to stop";
  };
  auto root = [](task<> what, shared_gate& at) -> task<> {
    auto handle = spawn(std::move(what));
    while (at.waiters() == 0) co_await skua::yield();
    handle.abort();
    EXPECT_TRUE((co_await handle.outcome()).stopped());
  };
  rt.block_on(root(body(closed), closed));
}

TEST_P(in_place, is_not_interrupted_by_a_stop) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    const event begun;
    const event asked;
    auto blocks = [](event mine, event other) -> task<> {
      block_in_place([&] {
        mine.happen();
        other.wait();
      });
      co_await skua::yield();
      ADD_FAILURE() << "it was asked to stop";
    };
    auto handle = spawn(blocks(begun, asked));
    while (!begun.has_happened()) co_await skua::yield();
    handle.abort();
    asked.happen();
    EXPECT_TRUE((co_await handle.outcome()).stopped());
  };
  rt.block_on(body());
}

TEST_P(in_place, spawns_tasks_that_belong_to_the_same_block_on) {
  auto rt = started(GetParam().settings());
  shared_gate door;
  std::atomic<bool> ended = false;
  auto child = [](shared_gate& at, std::atomic<bool>& flag) -> task<> {
    co_await shared_gate::wait(at);
    flag = true;
  };
  auto body = [](decltype(child)& make, shared_gate& at, std::atomic<bool>& flag) -> task<> {
    block_in_place([&] { spawn(make(at, flag)); });
    co_return;
  };
  std::thread opener([&] {
    door.await_waiters(1);
    door.open();
  });
  rt.block_on(body(child, door, ended));
  EXPECT_TRUE(ended);
  opener.join();
}

TEST_P(in_place, allows_block_on_inside) {
  auto rt = started(GetParam().settings());
  auto body = [](skua::runtime& again) -> task<> {
    auto inner = []() -> task<int> {
      co_await skua::yield();
      co_return 5;
    };
    EXPECT_EQ(block_in_place([&] { return again.block_on(inner()); }), 5);
    co_return;
  };
  for (int i = 0; i < 50; ++i) rt.block_on(body(rt));
}

TEST_P(in_place, may_drive_another_runtime_and_is_still_part_of_its_own) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    const event other_ran;
    block_in_place([] {
      auto other = started(skua_test::alone.settings());
      other.block_on(happens(event()));
    });
    const auto before = skua::runtime_handle::current().metrics().spawned;
    spawn(happens(other_ran));
    EXPECT_EQ(skua::runtime_handle::current().metrics().spawned, before + 1);
    co_return;
  };
  EXPECT_NO_THROW(rt.block_on(body()));
}

task<> spins(std::atomic<std::uint64_t>& operations, const std::atomic<bool>& over) {
  block_in_place([] {});
  while (!over) {
    co_await skua::consume_budget();
    ++operations;
  }
}

TEST(in_place_with_one_worker, leaves_a_task_that_gives_way_to_others) {
  auto rt = started(skua_test::one_worker.settings());
  std::atomic<std::uint64_t> operations = 0;
  std::atomic<bool> over = false;
  auto body = [](std::atomic<std::uint64_t>& count, std::atomic<bool>& end) -> task<> {
    spawn(spins(count, end));
    while (count == 0) co_await skua::yield();
    for (int i = 0; i < 100; ++i) co_await skua::yield();  // would never come back
    end = true;
  };
  rt.block_on(body(operations, over));
}

TEST_P(in_place, is_waited_for_by_shutdown) {
  const event begun;
  const event asked;
  std::atomic<bool> ended = false;
  std::thread opener;
  {
    auto rt = started(GetParam().settings());
    auto blocks = [](event mine, event other, std::atomic<bool>& flag) -> task<> {
      block_in_place([&] {
        mine.happen();
        other.wait();
      });
      flag = true;
      co_return;
    };
    rt.spawn(blocks(begun, asked, ended)).detach();
    begun.wait();
    opener = std::thread([&] { asked.happen(); });
  }
  EXPECT_TRUE(ended);
  opener.join();
}

class in_place_with_full_pool : public testing::TestWithParam<kind> {
protected:
  static skua::runtime start_with_one_thread() {
    skua::config with = GetParam().settings();
    with.blocking_threads = 1;
    return started(with);
  }
};
INSTANTIATE_TEST_SUITE_P(multi, in_place_with_full_pool, skua_test::kinds_that_steal(),
                         skua_test::name_of_kind);

TEST_P(in_place_with_full_pool, calls_and_goes_on_with_its_worker) {
  auto rt = start_with_one_thread();
  auto body = []() -> task<> {
    const event begun;
    const event release;
    auto call = [](const event& mine, const event& other) {
      mine.happen();
      other.wait();
    };
    auto holds_the_thread = spawn(skua::spawn_blocking(call, begun, release));
    while (!begun.has_happened()) co_await skua::yield();
    EXPECT_EQ(block_in_place([] { return 5; }), 5);
    EXPECT_FALSE(holds_the_thread.done());
    co_await spawn(happens(event()));
    release.happen();
    co_await std::move(holds_the_thread);
  };
  rt.block_on(body());
}

TEST_P(in_place_with_full_pool, lets_others_go_on_as_soon_as_a_thread_is_free) {
  auto rt = start_with_one_thread();
  auto body = []() -> task<> {
    const event begun;
    const event release;
    const event other;
    auto call = [](const event& mine, const event& until) {
      mine.happen();
      until.wait();
    };
    auto holds_the_thread = spawn(skua::spawn_blocking(call, begun, release));
    while (!begun.has_happened()) co_await skua::yield();
    spawn(happens(other));
    block_in_place([&] {
      release.happen();
      other.wait();
    });
    co_await std::move(holds_the_thread);
  };
  rt.block_on(body());
}

// The home thread comes back from blocking while its stand-in, the only thread of the pool, goes
// off to block: the home thread must take the worker, or nobody runs what is waited for.
TEST(in_place_with_one_worker, hands_the_worker_back_while_its_stand_in_blocks) {
  skua::config with = skua_test::one_worker.settings();
  with.blocking_threads = 1;
  auto rt = started(with);
  skua::random_generator random(7);
  auto stand_in = [](event on_it, std::uint64_t delay) -> task<> {
    const event other;
    spawn(happens(other));
    on_it.happen();
    for (std::uint64_t i = 0; i < delay; ++i) asm volatile("");
    block_in_place([&] { other.wait(); });
    co_return;
  };
  auto body = [](decltype(stand_in)& make, std::uint64_t mine, std::uint64_t its) -> task<> {
    const event on_it;
    spawn(make(on_it, its));
    block_in_place([&] {
      on_it.wait();
      for (std::uint64_t i = 0; i < mine; ++i) asm volatile("");
    });
    co_return;
  };
  const skua_test::budget time(1);
  while (time.left()) rt.block_on(body(stand_in, random.below(3'000), random.below(30'000)));
}

TEST_P(in_place, calls_on_its_worker_if_no_thread_can_be_had) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    const skua_test::thread_limit no_more(1);
    EXPECT_EQ(block_in_place([] { return 5; }), 5);
    EXPECT_TRUE(no_more.reached());
    co_await spawn(happens(event()));
  };
  rt.block_on(body());
}

}  // namespace
