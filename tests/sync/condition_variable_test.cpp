// tests/sync/condition_variable_test.cpp: who waits has the mutex again, or is stopped without it.
#include "skua/sync/condition_variable.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "skua/sync/guarded.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace {

using skua::condition_variable;
using skua::mutex;
using skua::spawn_local;
using skua::task;

class sync_condition_variable : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_condition_variable, skua_test::every_kind(),
                         skua_test::name_of_kind);

struct shared {
  mutex lock;
  condition_variable changed;
  int turns = 0;
};

task<> wait_once(shared& all, int number, std::vector<int>& order) {
  auto held = co_await all.lock.lock();
  co_await all.changed.wait(held);
  EXPECT_TRUE(held);
  EXPECT_FALSE(all.lock.try_lock());
  order.push_back(number);
  co_await skua::yield();
}

TEST(condition_variable, notifying_nobody_is_not_remembered) {
  condition_variable changed;
  changed.notify_one();
  changed.notify_all();
}

TEST(condition_variable_death, waiting_without_a_mutex_says_so) {
  auto body = []() -> task<> {
    condition_variable changed;
    mutex::guard none;
    co_await changed.wait(none);
  };
  EXPECT_DEATH(skua::sync_wait(body()), "a task holds a mutex");
}

TEST_P(sync_condition_variable, lets_go_of_the_mutex_and_has_it_again) {
  auto rt = start();
  auto body = []() -> task<> {
    shared all;
    std::vector<int> order;
    std::vector<skua::join_handle<void>> waits;
    for (int i = 0; i < 3; ++i) waits.push_back(spawn_local(wait_once(all, i, order)));
    co_await skua::yield();
    {
      const auto held = all.lock.try_lock();
      EXPECT_TRUE(held) << "nobody holds it who waits";
      all.changed.notify_one();
      co_await skua::yield();
      EXPECT_TRUE(order.empty()) << "it is we who have the mutex";
    }
    co_await std::move(waits[0]);
    EXPECT_EQ(order, std::vector<int>{0});
    all.changed.notify_all();
    co_await std::move(waits[1]);
    co_await std::move(waits[2]);
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
    EXPECT_TRUE(all.lock.try_lock());
  };
  skua_test::run_on_one_worker(rt, body());
}

task<> wait_for_turn(shared& all, int turn, std::vector<int>& order) {
  auto held = co_await all.lock.lock();
  co_await all.changed.wait(held, [&all, turn] { return all.turns == turn; });
  order.push_back(turn);
  ++all.turns;
  all.changed.notify_all();
}

TEST_P(sync_condition_variable, waits_until_the_predicate_is_true) {
  auto rt = start();
  auto body = []() -> task<> {
    shared all;
    std::vector<int> order;
    std::vector<skua::join_handle<void>> waits;
    for (const int turn : {3, 1, 0, 2})
      waits.push_back(skua::spawn(wait_for_turn(all, turn, order)));
    for (auto& one : waits) co_await std::move(one);
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  };
  rt.block_on(body());
}

TEST_P(sync_condition_variable, works_with_guarded_data) {
  auto rt = start();
  auto body = []() -> task<> {
    skua::guarded<int> number(0);
    condition_variable changed;
    auto waits = [](skua::guarded<int>& on, condition_variable& told) -> task<> {
      auto held = co_await on.lock();
      while (*held == 0) co_await told.wait(held.lock_guard());
      *held = 2;
    };
    auto other = spawn_local(waits(number, changed));
    co_await skua::yield();
    *number.try_lock() = 1;
    changed.notify_one();
    co_await std::move(other);
    EXPECT_EQ(*number.try_lock(), 2);
  };
  skua_test::run_on_one_worker(rt, body());
}

/// Tells in its destructor, when it is unwound, whether the guard holds.
struct looks_at {
  const mutex::guard& guard;
  std::optional<bool>& held;
  ~looks_at() { held = static_cast<bool>(guard); }
};

task<> wait_and_tell(shared& all, std::optional<bool>& held_at_end) {
  auto held = co_await all.lock.lock();
  const looks_at end{held, held_at_end};
  co_await all.changed.wait(held);
}

TEST_P(sync_condition_variable, who_is_stopped_unwinds_without_the_mutex) {
  auto rt = start();
  auto body = []() -> task<> {
    shared all;
    std::optional<bool> held;
    auto waits = spawn_local(wait_and_tell(all, held));
    co_await skua::yield();
    waits.abort();
    EXPECT_TRUE((co_await waits.outcome()).stopped());
    EXPECT_EQ(held, false);
    EXPECT_TRUE(all.lock.try_lock());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_condition_variable, who_is_stopped_after_it_was_notified_tells_the_next) {
  auto rt = start();
  auto body = []() -> task<> {
    shared all;
    std::vector<int> order;
    auto first = spawn_local(wait_once(all, 1, order));
    auto second = spawn_local(wait_once(all, 2, order));
    co_await skua::yield();
    auto held = all.lock.try_lock();
    all.changed.notify_one();
    first.abort();  // in the line of the mutex
    EXPECT_TRUE((co_await first.outcome()).stopped());
    held.unlock();
    co_await std::move(second);
    EXPECT_EQ(order, std::vector<int>{2});
    EXPECT_TRUE(all.lock.try_lock());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_condition_variable, who_has_the_mutex_and_loses_a_race_passes_both_on) {
  auto rt = start();
  auto body = []() -> task<> {
    shared all;
    std::vector<int> order;
    auto held = all.lock.try_lock();
    auto wait = [&] { return all.changed.wait(held); };
    auto grant = [&] { all.changed.notify_one(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    EXPECT_FALSE(held);
    EXPECT_TRUE(all.lock.try_lock());
    auto next = spawn_local(wait_once(all, 1, order));
    co_await skua::yield();
    EXPECT_TRUE(order.empty()) << "nothing is remembered";
    all.changed.notify_one();
    co_await std::move(next);
  };
  skua_test::run_on_one_worker(rt, body());
}

task<> await_it(condition_variable::waiting& which) {
  co_await which;
}

TEST_P(sync_condition_variable, who_waits_by_name_waits_again_after_a_stop) {
  auto rt = start();
  auto body = []() -> task<> {
    shared all;
    std::vector<int> order;
    auto held = co_await all.lock.lock();
    auto wait = all.changed.wait(held);
    auto first = spawn_local(await_it(wait));
    co_await skua::yield();
    auto behind = spawn_local(wait_once(all, 1, order));
    co_await skua::yield();
    auto ours = all.lock.try_lock();
    all.changed.notify_one();
    first.abort();  // in the line of the mutex
    EXPECT_TRUE((co_await first.outcome()).stopped());
    held = std::move(ours);
    auto second = spawn_local(await_it(wait));
    co_await std::move(behind);
    EXPECT_EQ(order, std::vector<int>{1}) << "it was told by the one who was stopped";
    all.changed.notify_one();
    co_await std::move(second);
    EXPECT_TRUE(held);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_condition_variable, who_was_notified_with_all_tells_nobody_when_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    shared all;
    std::vector<int> order;
    auto first = spawn_local(wait_once(all, 1, order));
    co_await skua::yield();
    auto held = all.lock.try_lock();
    all.changed.notify_all();
    auto late = spawn_local([](shared& of, mutex::guard own, std::vector<int>& noted) -> task<> {
      co_await of.changed.wait(own);
      noted.push_back(2);
    }(all, std::move(held), order));
    first.abort();
    EXPECT_TRUE((co_await first.outcome()).stopped());
    co_await skua::yield();
    co_await skua::yield();
    EXPECT_TRUE(order.empty());
    all.changed.notify_one();
    co_await std::move(late);
    EXPECT_EQ(order, std::vector<int>{2});
  };
  skua_test::run_on_one_worker(rt, body());
}

// Who was notified ends it, while the one who notified is still at it.
TEST_P(sync_condition_variable, may_be_destroyed_by_the_last_who_waited) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto* const all = new shared;
      auto ends_it = [](shared* own) -> task<> {
        {
          auto held = co_await own->lock.lock();
          co_await own->changed.wait(held, [own] { return own->turns > 0; });
        }
        delete own;
      };
      auto waits = skua::spawn(ends_it(all));
      if (i % 2 == 0) co_await skua::yield();
      {
        const auto held = co_await all->lock.lock();
        all->turns = 1;
        all->changed.notify_one();
      }
      co_await std::move(waits);
    }
  };
  rt.block_on(body());
}

/// A queue with room for two, as one writes it with condition variables.
struct bounded_queue {
  mutex lock;
  condition_variable not_full;
  condition_variable not_empty;
  std::deque<int> items;

  task<> push(int item) {
    auto held = co_await lock.lock();
    co_await not_full.wait(held, [this] { return items.size() < 2; });
    items.push_back(item);
    not_empty.notify_one();
  }
  task<int> pop() {
    auto held = co_await lock.lock();
    co_await not_empty.wait(held, [this] { return !items.empty(); });
    const int item = items.front();
    items.pop_front();
    not_full.notify_one();
    co_return item;
  }
};

task<> push_all(bounded_queue& to, int count) {
  for (int i = 0; i < count; ++i) co_await to.push(i);
}
task<> pop_some(bounded_queue& from, int count, std::atomic<int>& sum) {
  for (int i = 0; i < count; ++i) sum += co_await from.pop();
}
/// Waits like the others, and takes nothing.
task<> wait_for_item(bounded_queue& in) {
  auto held = co_await in.lock.lock();
  co_await in.not_empty.wait(held, [&in] { return !in.items.empty(); });
  in.not_empty.notify_one();
}

// Those who are stopped are in the way of notifications, and pass them on.
TEST(condition_variable_stress, no_notification_is_lost_on_those_who_are_stopped) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    bounded_queue queue;
    std::atomic<int> sum = 0;
    auto body = [&](skua::random_generator own) -> task<> {
      constexpr int count = 40;
      std::vector<skua::join_handle<void>> all;
      std::vector<skua::join_handle<void>> stopped;
      for (int i = 0; i < 3; ++i) {
        all.push_back(skua::spawn(push_all(queue, count)));
        all.push_back(skua::spawn(pop_some(queue, count, sum)));
      }
      for (int i = 0; i < 10; ++i) {
        stopped.push_back(skua::spawn(wait_for_item(queue)));
        if (own.below(2) == 0) co_await skua::yield();
        stopped[own.below(stopped.size())].abort();
      }
      for (auto& one : stopped) one.abort();
      for (auto& one : stopped) (void)co_await one.outcome();
      for (auto& one : all) co_await std::move(one);
      EXPECT_EQ(sum, 3 * count * (count - 1) / 2);
    };
    rt.block_on(body(random.split()));
  });
}

}  // namespace
