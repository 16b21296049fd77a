// tests/sync/watch_test.cpp: receivers see the latest value, and are told when there is a new one.
#include "skua/sync/watch.hpp"

#include "skua/coro/race.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/ledger.hpp"
#include "support/manual_executor.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace watch = skua::watch;
using skua::task;
using skua_test::driven;
using skua_test::entry;
using skua_test::gate;
using skua_test::ledger;
using skua_test::manual_executor;

class sync_watch : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_watch, skua_test::every_kind(), skua_test::name_of_kind);

TEST(watch, shows_the_latest_value_and_whether_it_was_seen) {
  auto [tx, rx] = watch::channel<std::string>("first");
  EXPECT_EQ(*rx.borrow(), "first");
  EXPECT_FALSE(rx.has_changed()) << "the first counts as seen";
  tx.send("second");
  tx.send("third");
  EXPECT_TRUE(rx.has_changed());
  EXPECT_EQ(*rx.borrow(), "third");
  EXPECT_TRUE(rx.has_changed()) << "a look does not count";
  EXPECT_TRUE(skua::sync_wait(rx.changed()));
  EXPECT_FALSE(rx.has_changed());
  tx.send("fourth");
  EXPECT_EQ(*rx.borrow_and_mark_seen(), "fourth");
  EXPECT_FALSE(rx.has_changed());
  EXPECT_EQ(*tx.borrow(), "fourth");
}

TEST(watch, what_is_borrowed_stays_as_it_was) {
  ledger book;
  {
    auto [tx, rx] = watch::channel<entry>(entry(book));
    const auto kept = rx.borrow();
    const auto same = kept;
    tx.send(entry(book));
    EXPECT_TRUE(kept->whole());
    EXPECT_EQ(book.ended, 0);
    tx.send(entry(book));
    EXPECT_EQ(book.ended, 1) << "the second, which nobody holds";
  }
  EXPECT_TRUE(book.balanced(3));
}

TEST(watch, the_end_comes_after_the_last_value) {
  auto [tx, rx] = watch::channel<int>(0);
  tx.send(1);
  {
    const auto gone = std::move(tx);
  }
  EXPECT_TRUE(skua::sync_wait(rx.changed()));
  EXPECT_FALSE(skua::sync_wait(rx.changed()));
  EXPECT_FALSE(skua::sync_wait(rx.changed()));
  EXPECT_EQ(*rx.borrow(), 1) << "it can still be looked at";
}

TEST(watch, each_receiver_has_seen_its_own) {
  auto [tx, rx] = watch::channel<int>(0);
  tx.send(1);
  auto copy = rx;
  auto late = tx.subscribe();
  EXPECT_FALSE(late.has_changed());
  EXPECT_TRUE(skua::sync_wait(rx.changed()));
  EXPECT_TRUE(copy.has_changed());
  copy = late;
  EXPECT_FALSE(copy.has_changed());
}

TEST(watch, a_sender_knows_whether_anybody_listens) {
  auto [tx, rx] = watch::channel<int>(0);
  EXPECT_FALSE(tx.is_closed());
  {
    const auto gone = std::move(rx);
  }
  EXPECT_TRUE(tx.is_closed());
  skua::sync_wait(tx.closed());
  tx.send(1);
  const auto again = tx.subscribe();
  EXPECT_EQ(*again.borrow(), 1);
  EXPECT_FALSE(tx.is_closed());
}

TEST(watch_death, a_handle_that_was_moved_from_says_so) {
  auto [tx, rx] = watch::channel<int>(0);
  const auto other_tx = std::move(tx);
  const auto other_rx = std::move(rx);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_DEATH(tx.send(1), "used while it has a channel");
  EXPECT_DEATH((void)rx.borrow(), "used while it has a channel");
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_DEATH((void)*skua::shared_value<int>(), "if there is one");
}

task<bool> await_change(watch::receiver<int>& from) {
  co_return co_await from.changed();
}
task<bool> change_or(watch::receiver<int>& from, gate& other) {
  co_return (co_await skua::select(from.changed(), gate::wait(other))).index() == 0;
}

TEST(watch_cancel, who_is_stopped_has_not_seen_the_change) {
  manual_executor here;
  gate other;
  auto [tx, rx] = watch::channel<int>(0);
  {
    driven<bool> never(here, await_change(rx));
    never.request_stop();
    here.run_ready();
    EXPECT_TRUE(never.result().stopped());
    driven<bool> waits(here, await_change(rx));
    here.run_ready();
    waits.request_stop();
    here.run_ready();
    EXPECT_TRUE(waits.result().stopped());
  }
  driven<bool> loses(here, change_or(rx, other));
  here.run_ready();
  other.open();
  tx.send(1);
  here.run_ready();
  EXPECT_FALSE(*loses.result());
  EXPECT_TRUE(rx.has_changed());
  driven<bool> at_once(here, await_change(rx));
  here.run_ready();
  EXPECT_TRUE(*at_once.result());
}

TEST(watch, all_who_wait_are_told_of_a_new_value) {
  manual_executor here;
  auto [tx, rx] = watch::channel<int>(0);
  auto other = rx;
  driven<bool> first(here, await_change(rx));
  driven<bool> second(here, await_change(other));
  here.run_ready();
  EXPECT_FALSE(first.ended() || second.ended());
  tx.send(1);
  here.run_ready();
  ASSERT_TRUE(first.ended() && second.ended());
  EXPECT_TRUE(*first.result() && *second.result());
}

TEST(watch_cancel, a_wait_may_outlive_the_sender) {
  manual_executor here;
  auto [tx, rx] = watch::channel<int>(0);
  driven<bool> waits(here, await_change(rx));
  here.run_ready();
  {
    const auto gone = std::move(tx);
  }
  here.run_ready();
  EXPECT_FALSE(*waits.result());
}

/// Until the senders are gone; gives the last value it saw.
task<int> follow(watch::receiver<int> from) {
  int last = *from.borrow();
  while (co_await from.changed()) {
    const int now = *from.borrow();
    EXPECT_GE(now, last) << "it never goes back";
    last = now;
  }
  co_return last;
}

TEST_P(sync_watch, all_receivers_see_the_last_value) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = watch::channel<int>(0);
    std::vector<skua::join_handle<int>> all;
    for (int i = 0; i < 8; ++i) all.push_back(skua::spawn(follow(rx)));
    for (int i = 1; i <= 500; ++i) {
      tx.send(i);
      if (i % 7 == 0) co_await skua::yield();
    }
    {
      const auto gone = std::move(tx);
    }
    for (auto& one : all) {
      EXPECT_EQ(co_await std::move(one), 500);
    }
  };
  rt.block_on(body());
}

class sync_watch_alone : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_watch_alone, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

TEST_P(sync_watch_alone, a_loop_that_never_waits_leaves_time_for_others) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = watch::channel<int>(0);
    std::atomic<bool> over = false;
    auto other = skua::spawn_local([](std::atomic<bool>& flag) -> task<> {
      flag = true;
      co_return;
    }(over));
    int rounds = 0;
    for (; !over && rounds < 10'000; ++rounds) {
      tx.send(rounds);
      EXPECT_TRUE(co_await rx.changed());
    }
    EXPECT_LT(rounds, 10'000);
    co_await std::move(other);
  };
  rt.block_on(body());
}

task<> few_turns(int count) {
  for (; count > 0; --count) co_await skua::yield();
}

/// Gives up and comes back; misses no end.
task<> follow_in_races(watch::receiver<int> from) {
  for (int round = 0;; ++round) {
    auto how = co_await skua::select(from.changed(), few_turns(round % 3));
    if (how.index() == 0 && !*how.get<0>()) break;
  }
  EXPECT_FALSE(from.has_changed());
}

void come_and_go(std::size_t workers) {
  skua_test::watchdog hang("watch");
  skua::config with;
  with.workers = workers;
  skua::runtime rt = skua_test::started(with);
  const skua_test::watchdog::registration watched(hang, rt.get_handle());
  auto body = []() -> task<> {
    auto [tx, rx] = watch::channel<int>(0);
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 10; ++i) all.push_back(skua::spawn(follow_in_races(rx)));
    auto others = [](watch::sender<int> to) -> task<> {
      for (int i = 0; i < 50; ++i) {
        to.send(i);
        auto brief = to.subscribe();
        (void)brief.borrow_and_mark_seen();
        co_await skua::yield();
      }
    };
    for (int i = 0; i < 3; ++i) all.push_back(skua::spawn(others(tx)));
    {
      const auto gone = std::move(tx);
    }
    for (std::size_t i = 0; i < 3; ++i) all[i].abort();
    for (auto& one : all) (void)co_await one.outcome();
  };
  for (const skua_test::budget time(0.5); time.left() && !testing::Test::HasFailure();) {
    rt.block_on(body());
    hang.progress();
  }
}

TEST(watch_stress, ends_come_and_go_on_two_workers) {
  come_and_go(2);
}
TEST(watch_stress, ends_come_and_go_on_eight_workers) {
  come_and_go(8);
}

}  // namespace
