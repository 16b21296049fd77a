// tests/sync/notify_test.cpp: one is told, or all, and no notification is lost.
#include "skua/sync/notify.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace {

using skua::notify;
using skua::spawn_local;
using skua::task;

class sync_notify : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_notify, skua_test::every_kind(), skua_test::name_of_kind);

task<> note_turn(notify& of, int number, std::vector<int>& order) {
  co_await of.wait();
  order.push_back(number);
}

TEST(notify, remembers_one_notification_and_none_to_all) {
  notify changed;
  EXPECT_FALSE(changed.try_wait());
  changed.notify_one();
  changed.notify_one();
  EXPECT_TRUE(changed.try_wait());
  EXPECT_FALSE(changed.try_wait());
  changed.notify_all();
  EXPECT_FALSE(changed.try_wait());
}

TEST_P(sync_notify, who_comes_after_a_notification_goes_on_at_once) {
  auto rt = start();
  auto body = []() -> task<> {
    notify changed;
    changed.notify_one();
    co_await changed.wait();
    EXPECT_FALSE(changed.try_wait()) << "it was used up";
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_notify, one_is_told_at_a_time_in_order_or_all) {
  auto rt = start();
  auto body = []() -> task<> {
    notify changed;
    std::vector<int> order;
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 5; ++i) all.push_back(spawn_local(note_turn(changed, i, order)));
    co_await skua::yield();
    changed.notify_one();
    co_await skua::yield();
    EXPECT_EQ(order, std::vector<int>{0});
    changed.notify_one();
    changed.notify_one();
    co_await skua::yield();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
    changed.notify_all();
    for (auto& one : all) co_await std::move(one);
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_FALSE(changed.try_wait());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_notify, who_is_stopped_in_line_takes_no_notification) {
  auto rt = start();
  auto body = []() -> task<> {
    notify changed;
    std::vector<int> order;
    auto first = spawn_local(note_turn(changed, 1, order));
    auto second = spawn_local(note_turn(changed, 2, order));
    co_await skua::yield();
    first.abort();
    EXPECT_TRUE((co_await first.outcome()).stopped());
    changed.notify_one();
    co_await std::move(second);
    EXPECT_EQ(order, std::vector<int>{2});
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_notify, who_was_told_and_lost_a_race_passes_it_on) {
  auto rt = start();
  auto body = []() -> task<> {
    notify changed;
    auto wait = [&] { return changed.wait(); };
    auto grant = [&] { changed.notify_one(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    EXPECT_TRUE(changed.try_wait()) << "nobody waited, so it is remembered";
  };
  skua_test::run_on_one_worker(rt, body());
}

task<> note_that_it_waits(notify& of, bool& waits) {
  waits = true;
  co_await of.wait();
}

task<> tell_when_both_wait(notify& of, const bool& first, bool& second,
                           std::optional<skua::join_handle<void>>& behind) {
  while (!first) co_await skua::yield();
  behind.emplace(spawn_local(note_that_it_waits(of, second)));
  while (!second) co_await skua::yield();
  of.notify_one();
}

TEST_P(sync_notify, who_was_told_and_lost_a_race_tells_the_next_in_line) {
  auto rt = start();
  auto body = []() -> task<> {
    notify changed;
    bool first = false;
    bool second = false;
    std::optional<skua::join_handle<void>> behind;
    co_await skua::race(note_that_it_waits(changed, first),
                        tell_when_both_wait(changed, first, second, behind));
    co_await std::move(*behind);
    EXPECT_FALSE(changed.try_wait()) << "there was only one";
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_notify, who_was_told_with_all_and_lost_a_race_passes_nothing_on) {
  auto rt = start();
  auto body = []() -> task<> {
    notify changed;
    auto wait = [&] { return changed.wait(); };
    auto grant = [&] { changed.notify_all(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    EXPECT_FALSE(changed.try_wait());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_notify, a_wait_that_is_awaited_again_passes_on_what_it_got_then) {
  auto rt = start();
  auto body = []() -> task<> {
    notify changed;
    {
      auto wait = changed.wait();
      auto tells = spawn_local([](notify& of) -> task<> {
        of.notify_all();
        co_return;
      }(changed));
      co_await wait;
      co_await std::move(tells);
      auto again = [&wait]() -> notify::waiting& { return wait; };
      auto grant = [&] { changed.notify_one(); };
      EXPECT_FALSE(co_await skua_test::got_it_and_lost(again, grant));
    }
    EXPECT_TRUE(changed.try_wait());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_notify, may_be_destroyed_by_the_last_who_waited) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto* const changed = new notify;
      auto ends_it = [](notify* own) -> task<> {
        co_await own->wait();
        delete own;
      };
      auto waits = skua::spawn(ends_it(changed));
      if (i % 2 == 0) co_await skua::yield();
      changed->notify_one();
      co_await std::move(waits);
    }
  };
  rt.block_on(body());
}

// Tokens go round: whoever was told takes the turn and tells the next. One lost ends it all.
TEST(notify_stress, a_token_is_passed_on_whatever_happens_to_its_holders) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    notify changed;
    int count = 0;  // plain: only who was told touches it
    changed.notify_one();
    auto passes = [](notify& of, int& number) -> task<> {
      co_await of.wait();
      ++number;
      of.notify_one();
    };
    auto make = [&](skua::random_generator own) -> task<> {
      if (own.below(2) == 0)
        co_await skua::race(passes(changed, count), skua::yield());
      else
        co_await passes(changed, count);
    };
    rt.block_on(skua_test::crowd(100, 3, make, random.split()));
    EXPECT_TRUE(changed.try_wait());
    EXPECT_FALSE(changed.try_wait());
  });
}

TEST(notify_stress, all_who_wait_hear_that_it_is_over) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    notify changed;
    std::atomic<std::size_t> over = 0;
    auto make = [&](skua::random_generator own) -> task<> {
      if (own.below(2) == 0)
        co_await skua::race(changed.wait(), skua::yield());
      else
        co_await changed.wait();
      ++over;
    };
    auto body = [&](skua::random_generator own) -> task<> {
      auto tells = skua::spawn([](notify& of) -> task<> {
        for (;;) {
          of.notify_all();
          co_await skua::yield();
        }
      }(changed));
      const std::size_t stopped = co_await skua_test::crowd(50, 5, make, own);
      tells.abort();
      (void)co_await tells.outcome();
      EXPECT_EQ(over + stopped, 50U);
    };
    rt.block_on(body(random.split()));
  });
}

}  // namespace
