// tests/sync/semaphore_test.cpp: so many at a time, in the order of asking, and none is lost.
#include "skua/sync/semaphore.hpp"

#include "skua/coro/race.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"
#include "sync/second_look.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

using skua::semaphore;
using skua::spawn_local;
using skua::task;

class sync_semaphore : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_semaphore, skua_test::every_kind(), skua_test::name_of_kind);

TEST(semaphore, counts_what_is_taken_and_given_back) {
  semaphore limit(3);
  {
    const auto two = limit.try_acquire(2);
    EXPECT_TRUE(two);
    EXPECT_EQ(two.count(), 2U);
    EXPECT_EQ(limit.available(), 1U);
    EXPECT_FALSE(limit.try_acquire(2)) << "all or nothing";
    EXPECT_TRUE(limit.try_acquire());
  }
  EXPECT_EQ(limit.available(), 3U);
}

TEST(semaphore, of_nothing_gives_nothing_and_nothing_can_be_had) {
  semaphore limit(0);
  EXPECT_FALSE(limit.try_acquire());
  const auto none = limit.try_acquire(0);
  EXPECT_TRUE(none);
  EXPECT_EQ(none.count(), 0U);
}

TEST(semaphore, permits_can_be_added_and_forgotten) {
  semaphore limit(1);
  limit.add_permits(2);
  limit.try_acquire(3).forget();
  EXPECT_EQ(limit.available(), 0U);
  limit.add_permits(1);
  EXPECT_TRUE(limit.try_acquire());
}

TEST(semaphore, a_permit_moves_splits_and_merges) {
  semaphore limit(5);
  semaphore::permit all = limit.try_acquire(5);
  semaphore::permit two = all.split(2);
  EXPECT_EQ(all.count(), 3U);
  EXPECT_EQ(two.count(), 2U);
  two = all.split(1);
  EXPECT_EQ(limit.available(), 2U) << "what it held came back";
  all.merge(std::move(two));
  EXPECT_EQ(all.count(), 3U);
  EXPECT_FALSE(two);  // NOLINT(bugprone-use-after-move): that is what it says
  semaphore::permit none;
  none.merge(std::move(all));
  EXPECT_EQ(none.count(), 3U);
  none.release();
  EXPECT_FALSE(none);
  EXPECT_EQ(limit.available(), 5U);
}

TEST(semaphore, gives_nothing_after_it_was_closed_but_takes_back) {
  semaphore limit(2);
  auto held = limit.try_acquire();
  limit.close();
  limit.close();
  EXPECT_TRUE(limit.is_closed());
  EXPECT_FALSE(limit.try_acquire());
  EXPECT_FALSE(limit.try_acquire(0));
  held.release();
  EXPECT_EQ(limit.available(), 2U);
}

TEST(semaphore, a_plain_thread_waits_with_sync_wait) {
  semaphore limit(1);
  auto body = [](semaphore& which) -> task<std::size_t> {
    const auto held = co_await which.acquire();
    co_return which.available();
  };
  EXPECT_EQ(skua::sync_wait(body(limit)), 0U);
}

TEST(semaphore_death, too_many_permits_say_so) {
  EXPECT_DEATH(semaphore(semaphore::most + 1), "at most 2\\^62 - 1 permits");
  semaphore full(semaphore::most);
  EXPECT_DEATH(full.add_permits(1), "at most 2\\^62 - 1 permits");
}

TEST(semaphore_death, splitting_off_more_than_there_is_says_so) {
  semaphore limit(1);
  semaphore::permit held = limit.try_acquire();
  EXPECT_DEATH((void)held.split(2), "split into what it holds");
}

TEST(semaphore_death, permits_of_two_semaphores_do_not_mix) {
  semaphore one(1);
  semaphore other(1);
  semaphore::permit held = one.try_acquire();
  EXPECT_DEATH(held.merge(other.try_acquire()), "of one semaphore");
}

task<> note_turn(semaphore& limit, std::size_t count, int number, std::vector<int>& order) {
  const auto held = co_await limit.acquire(count);
  EXPECT_TRUE(held);
  order.push_back(number);
  co_await skua::yield();
}

TEST_P(sync_semaphore, a_large_request_is_not_overtaken_by_small_ones) {
  auto rt = start();
  auto body = []() -> task<> {
    semaphore limit(3);
    std::vector<int> order;
    auto held = limit.try_acquire(2);
    auto large = spawn_local(note_turn(limit, 3, 1, order));
    co_await skua::yield();
    auto small = spawn_local(note_turn(limit, 1, 2, order));
    co_await skua::yield();
    EXPECT_TRUE(order.empty());
    EXPECT_FALSE(limit.try_acquire()) << "somebody waits";
    EXPECT_EQ(limit.available(), 1U);
    EXPECT_TRUE(co_await limit.acquire(0)) << "that takes nothing from anybody";
    held.release();
    co_await std::move(large);
    co_await std::move(small);
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_EQ(limit.available(), 3U);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_semaphore, a_large_request_that_is_stopped_lets_those_behind_go_on) {
  auto rt = start();
  auto body = []() -> task<> {
    semaphore limit(3);
    std::vector<int> order;
    const auto held = limit.try_acquire(1);
    auto large = spawn_local(note_turn(limit, 3, 1, order));
    co_await skua::yield();
    auto small = spawn_local(note_turn(limit, 1, 2, order));
    auto other = spawn_local(note_turn(limit, 1, 3, order));
    auto last = spawn_local(note_turn(limit, 3, 4, order));
    co_await skua::yield();
    large.abort();
    EXPECT_TRUE((co_await large.outcome()).stopped());
    co_await std::move(small);
    co_await std::move(other);
    EXPECT_EQ(order, (std::vector<int>{2, 3}));
    last.abort();
    EXPECT_TRUE((co_await last.outcome()).stopped());
    EXPECT_EQ(limit.available(), 2U);
    EXPECT_TRUE(limit.try_acquire(2)) << "nobody waits any more";
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_semaphore, what_is_asked_for_may_come_later) {
  auto rt = start();
  auto body = []() -> task<> {
    semaphore limit(0);
    std::vector<int> order;
    auto asks = spawn_local(note_turn(limit, 10, 1, order));
    co_await skua::yield();
    limit.add_permits(9);
    co_await skua::yield();
    EXPECT_TRUE(order.empty());
    limit.add_permits(2);
    co_await std::move(asks);
    EXPECT_EQ(limit.available(), 11U);
  };
  skua_test::run_on_one_worker(rt, body());
}

task<> is_refused(semaphore& limit, std::size_t count) {
  const auto held = co_await limit.acquire(count);
  EXPECT_FALSE(held);
  if (!held) {
    EXPECT_EQ(held.error(), skua::errc::closed);
  }
}

TEST_P(sync_semaphore, closing_tells_those_who_wait_and_those_who_come) {
  auto rt = start();
  auto body = []() -> task<> {
    semaphore limit(1);
    auto held = limit.try_acquire();
    auto first = spawn_local(is_refused(limit, 1));
    auto second = spawn_local(is_refused(limit, 5));
    co_await skua::yield();
    limit.close();
    co_await std::move(first);
    co_await std::move(second);
    held.release();
    co_await is_refused(limit, 1);
    co_await is_refused(limit, 0);
    EXPECT_EQ(limit.available(), 1U);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_semaphore, what_changes_at_the_last_moment_is_noticed) {
  auto rt = start();
  auto body = []() -> task<> {
    semaphore limit(1);
    auto wait = limit.acquire();
    auto held = co_await skua_test::second_look(wait);
    EXPECT_TRUE(held);
    EXPECT_EQ(limit.available(), 0U);
    limit.close();
    auto refused = limit.acquire();
    EXPECT_FALSE(co_await skua_test::second_look(refused));
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_semaphore, permits_given_to_one_who_lost_a_race_come_back) {
  auto rt = start();
  auto body = []() -> task<> {
    semaphore limit(2);
    auto held = limit.try_acquire(2);
    auto wait = [&] { return limit.acquire(2); };
    auto grant = [&] { held.release(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    EXPECT_EQ(limit.available(), 2U);
    EXPECT_TRUE(limit.try_acquire(2));
    held = limit.try_acquire(2);
    auto close = [&] { limit.close(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, close));
    EXPECT_EQ(limit.available(), 0U) << "the refused had none";
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_semaphore, a_task_that_is_stopped_before_it_waits_takes_no_place) {
  auto rt = start();
  auto body = []() -> task<> {
    semaphore limit(0);
    auto asks = [](semaphore& which) -> task<> { (void)co_await which.acquire(); };
    auto never = spawn_local(asks(limit));
    never.abort();
    EXPECT_TRUE((co_await never.outcome()).stopped());
    limit.add_permits(1);
    EXPECT_TRUE(limit.try_acquire());
  };
  skua_test::run_on_one_worker(rt, body());
}

// The last one who waits owns it, and ends it while the one who released is still at it.
TEST_P(sync_semaphore, may_be_destroyed_by_the_last_who_waited) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto* const limit = new semaphore(0);
      auto ends_it = [](semaphore* own) -> task<> {
        (co_await own->acquire())->forget();
        delete own;
      };
      auto waits = skua::spawn(ends_it(limit));
      if (i % 2 == 0) co_await skua::yield();
      limit->add_permits(1);
      co_await std::move(waits);
    }
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_semaphore, acquiring_in_a_loop_leaves_time_for_others) {
  auto rt = start();
  auto body = []() -> task<> {
    semaphore limit(1);
    std::atomic<bool> over = false;
    auto other = spawn_local([](std::atomic<bool>& flag) -> task<> {
      flag = true;
      co_return;
    }(over));
    int rounds = 0;
    for (; !over && rounds < 10'000; ++rounds) (void)co_await limit.acquire();
    EXPECT_LT(rounds, 10'000);
    co_await std::move(other);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_semaphore, one_who_gives_way_because_its_turn_is_used_up_holds_no_permit) {
  auto rt = start();
  auto body = []() -> task<> {
    semaphore limit(1);
    auto busy = spawn_local([](semaphore& which) -> task<> {
      for (int i = 0; i < 10'000; ++i) (void)co_await which.acquire();
    }(limit));
    int turns = 0;
    for (; !busy.done(); ++turns) {
      EXPECT_TRUE(limit.try_acquire());
      co_await skua::yield();
    }
    EXPECT_GT(turns, 10);
    co_await std::move(busy);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST(semaphore_stress, never_more_at_a_time_and_all_permits_come_back) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    constexpr std::size_t permits = 4;
    semaphore limit(permits);
    std::atomic<std::size_t> inside = 0;
    auto make = [&](skua::random_generator own) -> task<> {
      const std::size_t count = own.below(permits + 1);
      const bool impatient = own.below(3) == 0;
      if (impatient) co_await skua::race(limit.acquire(count), skua::yield());
      auto held = co_await limit.acquire(count);
      EXPECT_LE(inside.fetch_add(count) + count, permits);
      if (own.below(2) == 0) co_await skua::consume_budget();
      inside.fetch_sub(count);
      if (count > 1) held->split(1).release();
    };
    rt.block_on(skua_test::crowd(100, 3, make, random.split()));
    EXPECT_EQ(limit.available(), permits);
    EXPECT_TRUE(limit.try_acquire(permits));
  });
}

TEST(semaphore_stress, closing_reaches_everybody) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    semaphore limit(2);
    auto make = [&](skua::random_generator own) -> task<> {
      if (own.below(20) == 0) limit.close();
      auto held = co_await limit.acquire(1 + own.below(2));
      if (held) co_await skua::yield();
    };
    rt.block_on(skua_test::crowd(50, 5, make, random.split()));
    EXPECT_EQ(limit.available(), 2U);
  });
}

}  // namespace
