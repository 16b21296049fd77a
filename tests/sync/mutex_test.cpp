// tests/sync/mutex_test.cpp: one task at a time, in the order of asking, and nobody is forgotten.
#include "skua/sync/mutex.hpp"

#include "skua/coro/race.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/runtime/block_in_place.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <utility>
#include <vector>

namespace {

using skua::mutex;
using skua::spawn_local;
using skua::task;

// The first in line was told, but is on a thread that blocks. Meanwhile the mutex is free.
TEST(mutex, is_taken_past_one_who_was_told_and_is_held_up_elsewhere) {
  skua::runtime rt = skua_test::started(skua_test::two_workers.settings());
  mutex contested;
  std::atomic<int> locked = 0;
  std::promise<void> done;
  constexpr int often = 1'000;  // much more than a turn
  const auto waits = [&]() -> task<> { const auto held = co_await contested.lock(); };
  const auto locks_often = [&]() -> task<> {
    for (; locked < often; ++locked) const auto held = co_await contested.lock();
    done.set_value();
  };
  const auto script = [&]() -> task<> {
    auto held = co_await contested.lock();
    auto at_home = spawn_local(waits);
    co_await skua::yield();
    co_await skua::yield();  // it is in line
    held.unlock();
    auto other = skua::spawn(locks_often);
    skua::block_in_place([&] { done.get_future().wait_for(std::chrono::seconds(30)); });
    EXPECT_EQ(locked, often);
    co_await std::move(other);
    co_await std::move(at_home);
  };
  const auto begin = [&]() -> task<> { co_await spawn_local(script); };
  rt.block_on(begin);
}

class sync_mutex : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_mutex, skua_test::every_kind(), skua_test::name_of_kind);

task<> note_turn(mutex& lock, int number, std::vector<int>& order) {
  const auto held = co_await lock.lock();
  order.push_back(number);
  co_await skua::yield();
}

TEST(mutex, is_free_until_it_is_locked_and_again_after_that) {
  mutex lock;
  {
    const auto held = lock.try_lock();
    EXPECT_TRUE(held);
    EXPECT_FALSE(lock.try_lock());
  }
  EXPECT_TRUE(lock.try_lock());
}

TEST(mutex, a_guard_moves_and_can_be_emptied) {
  mutex lock;
  mutex::guard first = lock.try_lock();
  mutex::guard second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is what it says
  EXPECT_TRUE(second);
  EXPECT_FALSE(lock.try_lock());
  second.unlock();
  EXPECT_FALSE(second);
  first = lock.try_lock();
  mutex* const same = first.release();
  EXPECT_EQ(same, &lock);
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
}

TEST(mutex, assigning_a_guard_unlocks_what_it_held) {
  mutex one;
  mutex other;
  mutex::guard held = one.try_lock();
  held = other.try_lock();
  EXPECT_TRUE(one.try_lock());
  EXPECT_FALSE(other.try_lock());
}

TEST(mutex, a_plain_thread_waits_with_sync_wait) {
  mutex lock;
  auto body = [](mutex& which) -> task<bool> {
    const auto held = co_await which.lock();
    co_return !which.try_lock();
  };
  EXPECT_TRUE(skua::sync_wait(body(lock)));
}

TEST(mutex_death, unlocking_what_is_not_held_says_so) {
  mutex lock;
  EXPECT_DEATH(lock.unlock(), "unlocked by who holds it");
}

TEST(mutex_death, being_destroyed_while_held_says_so) {
  EXPECT_DEATH(
      {
        mutex lock;
        (void)lock.try_lock().release();
      },
      "destroyed while nobody holds it");
}

TEST_P(sync_mutex, is_handed_over_in_the_order_of_asking) {
  auto rt = start();
  auto body = []() -> task<> {
    mutex lock;
    std::vector<int> order;
    auto held = co_await lock.lock();
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(spawn_local(note_turn(lock, i, order)));
      co_await skua::yield();
    }
    held.unlock();
    for (auto& one : all) co_await std::move(one);
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_TRUE(lock.try_lock());
  };
  skua_test::run_on_one_worker(rt, body());
}

task<> lock_once(mutex& lock) {
  const auto held = co_await lock.lock();
}

TEST_P(sync_mutex, may_be_taken_until_the_first_in_line_has_come_and_is_handed_to_it_then) {
  auto rt = start();
  auto body = []() -> task<> {
    mutex lock;
    std::vector<int> order;
    auto held = co_await lock.lock();
    auto first = spawn_local(note_turn(lock, 1, order));
    auto second = spawn_local(note_turn(lock, 2, order));
    co_await skua::yield();
    held.unlock();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(lock.try_lock()) << "it is on its way";
    held = lock.try_lock();
    EXPECT_TRUE(held);
    co_await skua::yield();  // it came, and found it taken
    EXPECT_TRUE(order.empty());
    held.unlock();
    EXPECT_FALSE(lock.try_lock()) << "nobody comes in between";
    co_await std::move(first);
    co_await std::move(second);
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_TRUE(lock.try_lock());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_mutex, who_is_stopped_on_its_way_leaves_it_to_the_next) {
  auto rt = start();
  auto body = []() -> task<> {
    for (const bool taken_meanwhile : {false, true}) {
      for (const bool somebody_behind : {false, true}) {
        mutex lock;
        std::vector<int> order;
        auto held = co_await lock.lock();
        auto first = spawn_local(note_turn(lock, 1, order));
        std::optional<skua::join_handle<void>> second;
        if (somebody_behind) second = spawn_local(note_turn(lock, 2, order));
        co_await skua::yield();
        held.unlock();
        first.abort();
        if (taken_meanwhile) held = lock.try_lock();
        EXPECT_TRUE((co_await first.outcome()).stopped());
        held.unlock();
        if (second) co_await std::move(*second);
        EXPECT_EQ(order, somebody_behind ? std::vector<int>{2} : std::vector<int>{});
        EXPECT_TRUE(lock.try_lock());
      }
    }
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_mutex, who_is_stopped_in_line_gives_up_its_place) {
  auto rt = start();
  auto body = []() -> task<> {
    mutex lock;
    std::vector<int> order;
    auto held = co_await lock.lock();
    auto first = spawn_local(note_turn(lock, 1, order));
    auto second = spawn_local(note_turn(lock, 2, order));
    co_await skua::yield();
    first.abort();
    EXPECT_TRUE((co_await first.outcome()).stopped());
    held.unlock();
    co_await std::move(second);
    EXPECT_EQ(order, std::vector<int>{2});
    auto only = co_await lock.lock();
    auto gives_up = spawn_local(lock_once(lock));
    co_await skua::yield();
    gives_up.abort();
    EXPECT_TRUE((co_await gives_up.outcome()).stopped());
    only.unlock();
    EXPECT_TRUE(lock.try_lock()) << "nobody waits any more";
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_mutex, is_left_free_by_one_who_was_told_and_lost_a_race) {
  auto rt = start();
  auto body = []() -> task<> {
    mutex lock;
    auto held = co_await lock.lock();
    auto wait = [&] { return lock.lock(); };
    auto tell = [&] { held.unlock(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, tell));
    EXPECT_TRUE(lock.try_lock());
  };
  skua_test::run_on_one_worker(rt, body());
}

/// Tells the first in line, is faster, and hands it over when that has come.
task<> pass_and_hand_over(mutex& lock, mutex::guard& held, const bool& waits) {
  while (!waits) co_await skua::yield();
  held.unlock();
  held = lock.try_lock();
  EXPECT_TRUE(held);
  for (int i = 0; i < 3; ++i) co_await skua::yield();
  held.unlock();
}

template <typename Wait>
task<bool> is_handed_it_and_loses(mutex& lock, mutex::guard& held, Wait& wait) {
  bool waits = false;
  bool got = false;
  co_await skua::race(skua_test::waits_and_notes(wait, waits, got),
                      pass_and_hand_over(lock, held, waits));
  co_return got;
}

TEST_P(sync_mutex, is_passed_on_by_one_who_got_it_and_lost_a_race) {
  auto rt = start();
  auto body = []() -> task<> {
    mutex lock;
    auto held = co_await lock.lock();
    auto wait = [&] { return lock.lock(); };
    EXPECT_FALSE(co_await is_handed_it_and_loses(lock, held, wait));
    EXPECT_TRUE(lock.try_lock());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_mutex, one_who_waits_by_name_gets_it_at_the_next_await) {
  auto rt = start();
  auto body = []() -> task<> {
    mutex lock;
    auto held = co_await lock.lock();
    auto wait = lock.lock();
    auto again = [&]() -> mutex::lock_wait& { return wait; };
    EXPECT_FALSE(co_await is_handed_it_and_loses(lock, held, again));
    EXPECT_FALSE(lock.try_lock()) << "it is the waiter's";
    const auto mine = co_await wait;
    EXPECT_TRUE(mine);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_mutex, one_awaiter_locks_again_and_again_whether_it_has_to_wait_or_not) {
  auto rt = start();
  auto body = []() -> task<> {
    mutex lock;
    auto wait = lock.lock();
    std::vector<int> order;
    for (int i = 0; i < 6; ++i) {
      std::optional<skua::join_handle<void>> other;
      if (i % 3 == 1) {
        other = spawn_local(note_turn(lock, i, order));
        co_await skua::yield();
      }
      auto mine = co_await wait;
      EXPECT_TRUE(mine);
      EXPECT_FALSE(lock.try_lock()) << i;
      mine.unlock();
      EXPECT_TRUE(lock.try_lock()) << i;
      if (other) co_await std::move(*other);
    }
    EXPECT_EQ(order, (std::vector<int>{1, 4}));
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_mutex, may_be_destroyed_by_the_last_who_held_it) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto* const lock = new mutex;
      auto held = co_await lock->lock();
      auto ends_it = [](mutex* own) -> task<> {
        (co_await own->lock()).unlock();
        delete own;
      };
      auto last = skua::spawn(ends_it(lock));
      if (i % 2 == 0) co_await skua::yield();
      held.unlock();
      co_await std::move(last);
    }
  };
  rt.block_on(body());
}

// A task that only ever finds the mutex free must not keep the others from their turn.
TEST_P(sync_mutex, locking_in_a_loop_leaves_time_for_others) {
  auto rt = start();
  auto body = []() -> task<> {
    mutex lock;
    std::atomic<bool> over = false;
    auto other = spawn_local([](std::atomic<bool>& flag) -> task<> {
      flag = true;
      co_return;
    }(over));
    int rounds = 0;
    for (; !over && rounds < 10'000; ++rounds) co_await lock_once(lock);
    EXPECT_LT(rounds, 10'000);
    co_await std::move(other);
  };
  skua_test::run_on_one_worker(rt, body());
}

// Otherwise all others would run into it, and be in line when it comes back, and from then on
// each lock would be a change of tasks.
TEST_P(sync_mutex, is_not_held_by_one_who_gives_way_because_its_turn_is_used_up) {
  auto rt = start();
  auto body = []() -> task<> {
    mutex lock;
    auto busy = spawn_local([](mutex& which) -> task<> {
      for (int i = 0; i < 10'000; ++i) co_await lock_once(which);
    }(lock));
    int turns = 0;
    for (; !busy.done(); ++turns) {
      EXPECT_TRUE(lock.try_lock());
      co_await skua::yield();
    }
    EXPECT_GT(turns, 10);
    co_await std::move(busy);
  };
  skua_test::run_on_one_worker(rt, body());
}

task<> note_lock(mutex& lock, int number, std::vector<int>& order) {
  const auto held = co_await lock.lock();
  order.push_back(number);
}

std::uint64_t turns_used_up(const skua::runtime& rt) {
  std::uint64_t sum = 0;
  for (const auto& one : rt.metrics().workers) sum += one.budget_yields;
  return sum;
}

// It would be ready, and stolen by a worker with nothing else to do, only to run into the others.
TEST_P(sync_mutex, is_waited_for_in_line_by_one_who_would_have_to_give_way) {
  auto rt = start();
  auto body = [](const skua::runtime& here) -> task<> {
    constexpr int others = 5;
    mutex lock;
    std::vector<int> order;
    auto held = co_await lock.lock();
    std::vector<skua::join_handle<void>> all;
    for (int i = 1; i <= others; ++i) {
      all.push_back(spawn_local(note_lock(lock, i, order)));
      co_await skua::yield();
    }
    held.unlock();  // the first of them is told
    const std::uint64_t before = turns_used_up(here);
    int rounds = 0;
    for (; order.empty() && rounds < 10'000; ++rounds) co_await lock_once(lock);
    EXPECT_GT(rounds, 1) << "until that one comes it may be taken";
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5})) << "all were before it";
    EXPECT_EQ(turns_used_up(here), before);
    for (auto& one : all) co_await std::move(one);
  };
  skua_test::run_on_one_worker(rt, body(rt));
}

TEST(mutex_stress, nobody_in_line_is_forgotten_when_turns_are_used_up) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    mutex lock;
    int count = 0;  // plain, as below
    auto often = [&]() -> task<> {
      for (int i = 0; i < 300; ++i) {
        const auto held = co_await lock.lock();
        ++count;
      }
    };
    auto make = [&](skua::random_generator own) -> task<> {
      if (own.below(4) == 0)
        co_await skua::race(often(), skua::yield());
      else
        co_await often();
    };
    rt.block_on(skua_test::crowd(30, 2, make, random.split()));
    EXPECT_TRUE(lock.try_lock());
    EXPECT_GT(count, 0);
  });
}

TEST(mutex_stress, one_at_a_time_and_free_in_the_end) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    mutex lock;
    int count = 0;  // plain: ThreadSanitizer sees whether the mutex holds
    auto make = [&](skua::random_generator own) -> task<> {
      if (own.below(3) == 0) co_await skua::race(lock.lock(), skua::yield());
      const auto held = co_await lock.lock();
      const int before = count++;
      if (own.below(2) == 0) co_await skua::yield();
      EXPECT_EQ(count, before + 1);
    };
    rt.block_on(skua_test::crowd(100, 3, make, random.split()));
    EXPECT_TRUE(lock.try_lock());
  });
}

}  // namespace
