// tests/sync/broadcast_test.cpp: every receiver gets every message, or is told what it missed.
#include "skua/sync/broadcast.hpp"

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

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace broadcast = skua::broadcast;
using skua::task;
using skua_test::driven;
using skua_test::entry;
using skua_test::gate;
using skua_test::ledger;
using skua_test::manual_executor;

class sync_broadcast : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_broadcast, skua_test::every_kind(), skua_test::name_of_kind);

TEST(broadcast, every_receiver_gets_every_message) {
  auto [tx, first] = broadcast::channel<std::string>(4);
  EXPECT_EQ(tx.send("one"), 1U);
  auto copy = first;
  auto late = tx.subscribe();
  EXPECT_EQ(tx.send("two"), 3U);
  for (auto* both : {&first, &copy}) {
    EXPECT_EQ(*both->try_receive(), "one");
    EXPECT_EQ(*both->try_receive(), "two");
    EXPECT_FALSE(both->try_receive());
  }
  EXPECT_EQ(*skua::sync_wait(late.receive()), "two") << "only what came after it subscribed";
  EXPECT_FALSE(late.try_receive());
  EXPECT_FALSE(late.is_over());
}

TEST(broadcast, a_slow_receiver_is_told_what_it_missed_and_goes_on) {
  auto [tx, rx] = broadcast::channel<int>(3);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(tx.send(i), 1U);
  auto missed = rx.try_receive();
  EXPECT_FALSE(missed);
  EXPECT_EQ(missed.lagged(), 7U);
  for (int i = 7; i < 10; ++i) {
    auto got = skua::sync_wait(rx.receive());
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, i);
    EXPECT_EQ(got.lagged(), 0U);
  }
  EXPECT_EQ(rx.try_receive().lagged(), 0U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(tx.send(i), 1U);
  EXPECT_EQ(rx.try_receive().lagged(), 1U) << "one more than is kept";
  EXPECT_EQ(*rx.try_receive(), 1);
}

TEST(broadcast, the_end_comes_after_the_last_message) {
  auto [tx, rx] = broadcast::channel<int>(3);
  {
    const auto other = tx;
    {
      const auto gone = std::move(tx);
    }
    EXPECT_EQ(other.send(1), 1U);
  }
  EXPECT_FALSE(rx.is_over());
  EXPECT_EQ(*skua::sync_wait(rx.receive()), 1);
  EXPECT_TRUE(rx.is_over());
  auto end = skua::sync_wait(rx.receive());
  EXPECT_FALSE(end);
  EXPECT_EQ(end.lagged(), 0U);
}

TEST(broadcast, keeps_messages_and_frees_them) {
  ledger book;
  {
    auto [tx, rx] = broadcast::channel<entry>(2);
    EXPECT_EQ(tx.send(entry(book)), 1U);
    const auto kept = rx.try_receive().message();
    EXPECT_EQ(tx.send(entry(book)), 1U);
    EXPECT_EQ(tx.send(entry(book)), 1U);
    EXPECT_EQ(tx.send(entry(book)), 1U);
    EXPECT_TRUE(kept->whole());
    EXPECT_EQ(book.ended, 1) << "the second; the first is held";
    {
      const auto gone = std::move(rx);
    }
    EXPECT_TRUE(tx.is_closed());
    skua::sync_wait(tx.closed());
    EXPECT_EQ(tx.send(entry(book)), 0U);
  }
  EXPECT_TRUE(book.balanced(5));
}

TEST(broadcast_death, misuse_says_so) {
  EXPECT_DEATH((void)broadcast::channel<int>(0), "at least one message");
  auto [tx, rx] = broadcast::channel<int>(1);
  EXPECT_DEATH((void)*rx.try_receive(), "if there is one");
  const auto other_tx = std::move(tx);
  const auto other_rx = std::move(rx);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_DEATH((void)tx.send(1), "used while it has a channel");
  EXPECT_DEATH((void)rx.try_receive(), "used while it has a channel");
  // NOLINTEND(bugprone-use-after-move)
}

task<int> receive(broadcast::receiver<int>& from) {
  auto got = co_await from.receive();
  co_return got ? *got : -2;
}
task<int> receive_or(broadcast::receiver<int>& from, gate& other) {
  auto how = co_await skua::select(from.receive(), gate::wait(other));
  co_return how.index() == 0 ? **how.get<0>() : -1;
}

TEST(broadcast, all_who_wait_get_a_new_message) {
  manual_executor here;
  auto [tx, rx] = broadcast::channel<int>(1);
  auto other = rx;
  driven<int> first(here, receive(rx));
  driven<int> second(here, receive(other));
  here.run_ready();
  EXPECT_EQ(tx.send(7), 2U);
  here.run_ready();
  ASSERT_TRUE(first.ended() && second.ended());
  EXPECT_EQ(*first.result(), 7);
  EXPECT_EQ(*second.result(), 7);
}

TEST(broadcast_cancel, who_is_stopped_gets_the_message_later) {
  manual_executor here;
  gate other;
  auto [tx, rx] = broadcast::channel<int>(3);
  {
    driven<int> never(here, receive(rx));
    never.request_stop();
    here.run_ready();
    EXPECT_TRUE(never.result().stopped());
    driven<int> waits(here, receive(rx));
    here.run_ready();
    waits.request_stop();
    here.run_ready();
    EXPECT_TRUE(waits.result().stopped());
  }
  driven<int> loses(here, receive_or(rx, other));
  here.run_ready();
  other.open();
  EXPECT_EQ(tx.send(1), 1U);
  here.run_ready();
  EXPECT_EQ(*loses.result(), -1);
  EXPECT_EQ(*rx.try_receive(), 1);
  driven<int> ends(here, receive(rx));
  here.run_ready();
  {
    const auto gone = std::move(tx);
  }
  here.run_ready();
  EXPECT_EQ(*ends.result(), -2);
}

/// How many it got, and how many it missed; in order.
task<std::uint64_t> count_all(broadcast::receiver<int> from, bool races) {
  std::uint64_t count = 0;
  for (;;) {
    broadcast::reception<int> got;
    if (races) {
      auto how = co_await skua::select(from.receive(), skua::yield());
      if (how.index() == 1) continue;
      got = std::move(*how.get<0>());
    } else {
      got = co_await from.receive();
    }
    if (got) {
      EXPECT_EQ(static_cast<std::uint64_t>(*got), count);
      ++count;
    } else if (got.lagged() > 0) {
      count += got.lagged();
    } else {
      break;
    }
  }
  co_return count;
}
task<> send_all(broadcast::sender<int> to, int count) {
  for (int i = 0; i < count; ++i) {
    to.send(i);
    if (i % 5 == 0) co_await skua::yield();
  }
}

TEST_P(sync_broadcast, each_receiver_can_account_for_every_message) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = broadcast::channel<int>(16);
    std::vector<skua::join_handle<std::uint64_t>> all;
    for (int i = 0; i < 8; ++i) all.push_back(skua::spawn(count_all(rx, i % 2 == 0)));
    skua::spawn(send_all(std::move(tx), 1'000)).detach();
    for (auto& one : all) {
      EXPECT_EQ(co_await std::move(one), 1'000U);
    }
  };
  rt.block_on(body());
}

TEST_P(sync_broadcast, a_thread_receives_by_blocking_and_a_worker_refuses) {
  auto rt = start();
  auto [tx, rx] = broadcast::channel<int>(1'000);
  std::thread waits([from = std::move(rx)]() mutable {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(*from.blocking_receive(), i);
    EXPECT_FALSE(from.blocking_receive());
  });
  rt.block_on(send_all(std::move(tx), 100));
  waits.join();
  auto body = []() -> task<> {
    auto [to, from] = broadcast::channel<int>(1);
    EXPECT_THROW((void)from.blocking_receive(), std::logic_error);
    co_return;
  };
  rt.block_on(body());
}

void come_and_go(std::size_t workers) {
  skua_test::watchdog hang("broadcast");
  skua::config with;
  with.workers = workers;
  skua::runtime rt = skua_test::started(with);
  const skua_test::watchdog::registration watched(hang, rt.get_handle());
  auto body = []() -> task<> {
    auto [tx, rx] = broadcast::channel<int>(8);
    std::vector<skua::join_handle<std::uint64_t>> all;
    for (int i = 0; i < 10; ++i) all.push_back(skua::spawn(count_all(rx, i % 2 == 0)));
    auto sends = skua::spawn(send_all(std::move(tx), 200));
    for (std::size_t i = 0; i < 3; ++i) {
      co_await skua::yield();
      all[i].abort();
    }
    for (auto& one : all) {
      auto how = co_await one.outcome();
      EXPECT_TRUE(how.stopped() || *how == 200U);
    }
    co_await std::move(sends);
  };
  for (const skua_test::budget time(0.5); time.left() && !testing::Test::HasFailure();) {
    rt.block_on(body());
    hang.progress();
  }
}

TEST(broadcast_stress, receivers_come_and_go_on_two_workers) {
  come_and_go(2);
}
TEST(broadcast_stress, receivers_come_and_go_on_eight_workers) {
  come_and_go(8);
}

}  // namespace
