// tests/sync/rendezvous_test.cpp: without room inside, sender and receiver wait for each other.
#include "skua/coro/race.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "skua/sync/mpmc.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <variant>

namespace {

namespace mpmc = skua::mpmc;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

using receiver = mpmc::receiver<int>;
using sender = mpmc::sender<int>;

task<std::optional<int>> receive(receiver& from) {
  co_return co_await from.receive();
}
task<bool> send(sender& to, int message) {
  co_return (co_await to.send(message)).has_value();
}
task<int> receive_or(receiver& from, gate& other) {
  auto how = co_await skua::select(from.receive(), gate::wait(other));
  co_return how.index() == 0 ? how.get<0>()->value_or(0) : -1;
}
task<bool> send_or(sender& to, int message, gate& other) {
  auto how = co_await skua::select(to.send(message), gate::wait(other));
  co_return how.index() == 0 && how.get<0>()->has_value();
}

TEST(rendezvous, a_sender_waits_for_a_receiver) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(0);
  EXPECT_EQ(tx.capacity(), 0U);
  EXPECT_TRUE(tx.try_send(1).is_full()) << "nobody waits to receive";
  driven<bool> sends(here, send(tx, 1));
  here.run_ready();
  EXPECT_FALSE(sends.ended());
  EXPECT_FALSE(rx.try_receive()) << "it is still with the sender";
  driven<std::optional<int>> receives(here, receive(rx));
  here.run_ready();
  EXPECT_TRUE(sends.ended() && receives.ended());
  EXPECT_EQ(*receives.result(), 1);
}

TEST(rendezvous, a_receiver_waits_for_a_sender) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(0);
  driven<std::optional<int>> receives(here, receive(rx));
  here.run_ready();
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_TRUE(tx.try_send(2).is_full()) << "it has got one";
  here.run_ready();
  EXPECT_EQ(*receives.result(), 1);
}

TEST(rendezvous, the_end_reaches_both_sides) {
  manual_executor here;
  {
    auto [tx, rx] = mpmc::channel<int>(0);
    driven<std::optional<int>> receives(here, receive(rx));
    here.run_ready();
    {
      const auto gone = std::move(tx);
    }
    here.run_ready();
    EXPECT_EQ(*receives.result(), std::nullopt);
  }
  auto [tx, rx] = mpmc::channel<int>(0);
  driven<bool> sends(here, send(tx, 1));
  here.run_ready();
  rx.close();
  here.run_ready();
  EXPECT_FALSE(*sends.result());
}

TEST(rendezvous, a_sender_that_lost_its_race_has_sent_nothing_and_the_next_is_asked) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::channel<int>(0);
  driven<bool> loses(here, send_or(tx, 1, other));
  here.run_ready();
  driven<bool> next(here, send(tx, 2));
  here.run_ready();
  other.open();
  driven<std::optional<int>> receives(here, receive(rx));
  here.run_ready();
  EXPECT_FALSE(*loses.result());
  EXPECT_TRUE(*next.result());
  EXPECT_EQ(*receives.result(), 2);
}

TEST(rendezvous, a_receiver_that_lost_its_race_leaves_what_was_handed_over_to_the_next) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::channel<int>(0);
  driven<int> loses(here, receive_or(rx, other));
  here.run_ready();
  other.open();
  EXPECT_TRUE(tx.try_send(1));
  here.run_ready();
  EXPECT_EQ(*loses.result(), -1);
  driven<bool> waits(here, send(tx, 2));
  here.run_ready();
  EXPECT_FALSE(waits.ended());
  driven<std::optional<int>> first(here, receive(rx));
  driven<std::optional<int>> second(here, receive(rx));
  here.run_ready();
  EXPECT_EQ(*first.result(), 1);
  EXPECT_EQ(*second.result(), 2);
}

TEST(rendezvous, a_receiver_that_leaves_before_the_hand_over_leaves_the_senders_promise) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(0);
  driven<bool> sends(here, send(tx, 1));
  here.run_ready();
  driven<std::optional<int>> receives(here, receive(rx));
  while (!receives.ended() && here.run_one()) receives.request_stop();
  EXPECT_TRUE(receives.result().stopped());
  here.run_ready();
  EXPECT_TRUE(*sends.result());
  EXPECT_EQ(rx.try_receive(), 1);
}

class sync_rendezvous : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_rendezvous, skua_test::every_kind(), skua_test::name_of_kind);

task<> send_all(sender to, int count) {
  for (int i = 0; i < count; ++i) {
    EXPECT_TRUE(co_await to.send(i));
  }
}

TEST_P(sync_rendezvous, all_messages_arrive_in_order) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = mpmc::channel<int>(0);
    auto sends = skua::spawn(send_all(std::move(tx), 1'000));
    for (int i = 0; i < 1'000; ++i) {
      EXPECT_EQ(co_await rx.receive(), i);
    }
    EXPECT_EQ(co_await rx.receive(), std::nullopt);
    co_await std::move(sends);
  };
  rt.block_on(body());
}

}  // namespace
