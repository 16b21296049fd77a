// tests/sync/spsc_test.cpp: one sends, one receives, nothing is lost between them.
#include "skua/sync/spsc.hpp"

#include "skua/coro/race.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/ledger.hpp"
#include "support/manual_executor.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

namespace spsc = skua::spsc;
using skua::task;
using skua_test::driven;
using skua_test::entry;
using skua_test::gate;
using skua_test::ledger;
using skua_test::manual_executor;

class sync_spsc : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_spsc, skua_test::every_kind(), skua_test::name_of_kind);

TEST(spsc, gives_messages_in_order_and_says_when_it_is_full_or_empty) {
  auto [tx, rx] = spsc::channel<int>(3);
  EXPECT_FALSE(rx.try_receive());
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(tx.try_send(i));
    auto refused = tx.try_send(3);
    EXPECT_TRUE(refused.is_full());
    EXPECT_EQ(refused.rejected(), 3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(rx.try_receive(), i);
    EXPECT_FALSE(rx.try_receive());
  }
  EXPECT_FALSE(rx.is_over());
}

TEST(spsc, carries_what_can_only_be_moved) {
  auto [tx, rx] = spsc::channel<std::unique_ptr<int>>(1);
  EXPECT_TRUE(skua::sync_wait(tx.send(std::make_unique<int>(7))));
  EXPECT_EQ(**skua::sync_wait(rx.receive()), 7);
}

TEST(spsc, is_over_when_the_sender_has_gone_and_all_was_received) {
  auto [tx, rx] = spsc::channel<int>(2);
  EXPECT_TRUE(tx.try_send(1));
  {
    const auto gone = std::move(tx);
  }
  EXPECT_FALSE(rx.is_over());
  EXPECT_EQ(skua::sync_wait(rx.receive()), 1);
  EXPECT_TRUE(rx.is_over());
  EXPECT_EQ(skua::sync_wait(rx.receive()), std::nullopt);
}

TEST(spsc, without_receiver_refuses_and_destroys_what_was_inside) {
  ledger book;
  {
    auto [tx, rx] = spsc::channel<entry>(4);
    EXPECT_TRUE(tx.try_send(entry(book)));
    EXPECT_TRUE(tx.try_send(entry(book)));
    {
      const auto gone = std::move(rx);
    }
    EXPECT_EQ(book.ended, 2);
    EXPECT_TRUE(tx.is_closed());
    EXPECT_TRUE(tx.try_send(entry(book)).is_closed());
    auto refused = skua::sync_wait(tx.send(entry(book)));
    ASSERT_TRUE(refused.is_closed());
    EXPECT_TRUE(refused.rejected().whole());
  }
  EXPECT_TRUE(book.balanced(4));
}

TEST(spsc, destroys_what_is_inside_when_the_sender_goes_last) {
  ledger book;
  {
    auto [tx, rx] = spsc::channel<entry>(4);
    auto to = std::move(tx);
    const auto from = std::move(rx);
    EXPECT_TRUE(to.try_send(entry(book)));
  }
  EXPECT_TRUE(book.balanced(1));
}

TEST(spsc, handles_can_be_assigned) {
  auto [tx, rx] = spsc::channel<int>(1);
  auto [other_tx, other_rx] = spsc::channel<int>(1);
  tx = std::move(other_tx);
  EXPECT_TRUE(rx.is_over());
  rx = std::move(other_rx);
  EXPECT_TRUE(tx.blocking_send(5));
  EXPECT_EQ(rx.blocking_receive(), 5);
}

TEST(spsc_death, misuse_says_so) {
  EXPECT_DEATH((void)spsc::channel<int>(0), "has room for a message");
  auto [tx, rx] = spsc::channel<int>(1);
  auto twice = [](spsc::receiver<int>& from) -> task<> {
    (void)co_await skua::race(from.receive(), from.receive());
  };
  EXPECT_DEATH(skua::sync_wait(twice(rx)), "receives one message at a time");
  const auto other_tx = std::move(tx);
  const auto other_rx = std::move(rx);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_DEATH((void)tx.try_send(1), "used while it has a channel");
  EXPECT_DEATH((void)rx.try_receive(), "used while it has a channel");
  // NOLINTEND(bugprone-use-after-move)
}

task<std::optional<int>> receive(spsc::receiver<int>& from) {
  co_return co_await from.receive();
}
task<bool> send(spsc::sender<int>& to, int message) {
  co_return (co_await to.send(message)).has_value();
}
task<int> receive_or(spsc::receiver<int>& from, gate& other) {
  auto how = co_await skua::select(from.receive(), gate::wait(other));
  co_return how.index() == 0 ? how.get<0>()->value_or(0) : -1;
}
task<bool> send_or(spsc::sender<int>& to, int message, gate& other) {
  auto how = co_await skua::select(to.send(message), gate::wait(other));
  co_return how.index() == 0 && how.get<0>()->has_value();
}

TEST(spsc, who_waits_is_woken_by_the_other_end) {
  manual_executor here;
  auto [tx, rx] = spsc::channel<int>(1);
  driven<std::optional<int>> receives(here, receive(rx));
  here.run_ready();
  EXPECT_FALSE(receives.ended());
  EXPECT_TRUE(tx.try_send(1));
  here.run_ready();
  EXPECT_EQ(*receives.result(), 1);
  EXPECT_TRUE(tx.try_send(2));
  driven<bool> sends(here, send(tx, 3));
  here.run_ready();
  EXPECT_FALSE(sends.ended());
  EXPECT_EQ(rx.try_receive(), 2);
  here.run_ready();
  EXPECT_TRUE(*sends.result());
  EXPECT_EQ(rx.try_receive(), 3);
}

TEST(spsc, who_waits_is_told_that_the_other_end_has_gone) {
  manual_executor here;
  {
    auto [tx, rx] = spsc::channel<int>(1);
    driven<std::optional<int>> receives(here, receive(rx));
    here.run_ready();
    {
      const auto gone = std::move(tx);
    }
    here.run_ready();
    EXPECT_EQ(*receives.result(), std::nullopt);
  }
  auto [tx, rx] = spsc::channel<int>(1);
  EXPECT_TRUE(tx.try_send(1));
  driven<bool> sends(here, send(tx, 2));
  here.run_ready();
  {
    const auto gone = std::move(rx);
  }
  here.run_ready();
  EXPECT_FALSE(*sends.result());
}

TEST(spsc_cancel, who_is_stopped_takes_nothing_along) {
  manual_executor here;
  gate other;
  auto [tx, rx] = spsc::channel<int>(1);
  {
    driven<std::optional<int>> never(here, receive(rx));
    never.request_stop();
    here.run_ready();
    EXPECT_TRUE(never.result().stopped());
    driven<std::optional<int>> waits(here, receive(rx));
    here.run_ready();
    waits.request_stop();
    here.run_ready();
    EXPECT_TRUE(waits.result().stopped());
  }
  {
    driven<int> loses(here, receive_or(rx, other));
    here.run_ready();
    other.open();
    EXPECT_TRUE(tx.try_send(1));
    here.run_ready();
    EXPECT_EQ(*loses.result(), -1);
  }
  {
    driven<bool> waits(here, send(tx, 2));
    here.run_ready();
    waits.request_stop();
    here.run_ready();
    EXPECT_TRUE(waits.result().stopped());
  }
  driven<bool> loses(here, send_or(tx, 3, other));
  here.run_ready();
  other.open();
  EXPECT_EQ(rx.try_receive(), 1);
  here.run_ready();
  EXPECT_FALSE(*loses.result());
  EXPECT_FALSE(rx.try_receive());
  EXPECT_TRUE(tx.try_send(4));
  EXPECT_EQ(rx.try_receive(), 4);
}

task<> send_all(spsc::sender<int> to, int count) {
  for (int i = 0; i < count; ++i) {
    EXPECT_TRUE(co_await to.send(i));
  }
}

TEST_P(sync_spsc, all_messages_arrive_in_order) {
  auto rt = start();
  auto body = [](std::size_t places) -> task<> {
    auto [tx, rx] = spsc::channel<int>(places);
    auto sends = skua::spawn(send_all(std::move(tx), 5'000));
    int expected = 0;
    while (auto one = co_await rx.receive()) {
      EXPECT_EQ(*one, expected++);
    }
    EXPECT_EQ(expected, 5'000);
    co_await std::move(sends);
  };
  for (const std::size_t places : {1U, 2U, 7U, 64U}) rt.block_on(body(places));
}

TEST_P(sync_spsc, threads_send_and_receive_by_blocking_and_a_worker_refuses) {
  auto rt = start();
  auto [tx, rx] = spsc::channel<int>(2);
  std::thread waits([from = std::move(rx)]() mutable {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(from.blocking_receive(), i);
    EXPECT_EQ(from.blocking_receive(), std::nullopt);
  });
  rt.block_on(send_all(std::move(tx), 100));
  waits.join();
  auto body = []() -> task<> {
    auto [to, from] = spsc::channel<int>(1);
    EXPECT_THROW((void)to.blocking_send(1), std::logic_error);
    EXPECT_THROW((void)from.blocking_receive(), std::logic_error);
    co_return;
  };
  rt.block_on(body());
}

class sync_spsc_alone : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_spsc_alone, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

TEST_P(sync_spsc_alone, a_loop_that_never_waits_leaves_time_for_others) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = spsc::channel<int>(1);
    std::atomic<bool> over = false;
    auto other = skua::spawn_local([](std::atomic<bool>& flag) -> task<> {
      flag = true;
      co_return;
    }(over));
    int rounds = 0;
    for (; !over && rounds < 10'000; ++rounds) {
      EXPECT_TRUE(co_await tx.send(rounds));
      EXPECT_EQ(co_await rx.receive(), rounds);
    }
    EXPECT_LT(rounds, 10'000);
    co_await std::move(other);
  };
  rt.block_on(body());
}

}  // namespace
