// tests/sync/channel_core_test.cpp: whoever is stopped or loses a race takes nothing along.
#include "skua/sync/channel_core.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/race.hpp"
#include "skua/sync/mpmc.hpp"
#include "skua/sync/mpsc.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/ledger.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace {

namespace mpmc = skua::mpmc;
namespace mpsc = skua::mpsc;
using skua::race;
using skua::select;
using skua::task;
using skua_test::driven;
using skua_test::entry;
using skua_test::gate;
using skua_test::ledger;
using skua_test::manual_executor;

using receiver = mpmc::receiver<int>;
using sender = mpmc::sender<int>;

task<std::optional<int>> receive(receiver& from) {
  co_return co_await from.receive();
}
task<bool> send(sender& to, int message) {
  co_return (co_await to.send(message)).has_value();
}
/// -1: the gate was first.
task<int> receive_or(receiver& from, gate& other) {
  auto how = co_await select(from.receive(), gate::wait(other));
  co_return how.index() == 0 ? how.get<0>()->value_or(0) : -1;
}
task<bool> send_or(sender& to, int message, gate& other) {
  auto how = co_await select(to.send(message), gate::wait(other));
  co_return how.index() == 0 && how.get<0>()->has_value();
}

task<> note_all(receiver& from, int number, std::vector<int>& order) {
  while (auto one = co_await from.receive()) order.push_back(number);
}
task<> send_two(sender& to, int first) {
  EXPECT_TRUE(co_await to.send(first));
  EXPECT_TRUE(co_await to.send(first + 1));
}

TEST(channel_order, who_has_waited_longest_for_a_message_gets_the_next) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(1);
  std::vector<int> order;
  driven<void> first(here, note_all(rx, 1, order));
  driven<void> second(here, note_all(rx, 2, order));
  driven<void> third(here, note_all(rx, 3, order));
  for (int i = 0; i < 7; ++i) {
    here.run_ready();
    EXPECT_TRUE(tx.try_send(i));
  }
  {
    const auto gone = std::move(tx);
  }
  here.run_ready();
  EXPECT_TRUE(first.ended() && second.ended() && third.ended());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 1, 2, 3, 1}));
}

TEST(channel_order, who_has_waited_longest_for_what_is_sent_without_a_limit_gets_the_next) {
  manual_executor here;
  auto [tx, rx] = mpmc::unbounded_channel<int>();
  std::vector<int> order;
  driven<void> first(here, note_all(rx, 1, order));
  driven<void> second(here, note_all(rx, 2, order));
  driven<void> third(here, note_all(rx, 3, order));
  for (int i = 0; i < 7; ++i) {
    here.run_ready();
    EXPECT_TRUE(tx.send(i));
    EXPECT_FALSE(rx.try_receive()) << "it is promised to another";
  }
  here.run_ready();
  EXPECT_TRUE(tx.send(7));
  EXPECT_TRUE(tx.send(8));
  {
    const auto gone = std::move(tx);
  }
  here.run_ready();
  EXPECT_TRUE(first.ended() && second.ended() && third.ended());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 1, 2, 3, 1, 2, 3}));
}

TEST(channel_order, who_has_waited_longest_for_room_sends_next) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(1);
  driven<void> first(here, send_two(tx, 10));
  driven<void> second(here, send_two(tx, 20));
  driven<void> third(here, send_two(tx, 30));
  for (const int expected : {10, 11, 20, 30, 21, 31}) {
    here.run_ready();
    EXPECT_EQ(rx.try_receive(), expected);
    EXPECT_TRUE(tx.try_send(99).is_full() || expected == 31) << "nobody comes in between";
  }
}

TEST(channel_cancel, a_receiver_that_is_stopped_in_line_leaves_it) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(2);
  driven<std::optional<int>> first(here, receive(rx));
  driven<std::optional<int>> second(here, receive(rx));
  here.run_ready();
  first.request_stop();
  here.run_ready();
  EXPECT_TRUE(first.ended() && first.result().stopped());
  EXPECT_TRUE(tx.try_send(1));
  here.run_ready();
  EXPECT_EQ(*second.result(), 1);
}

TEST(channel_cancel, a_receiver_that_is_stopped_before_it_begins_takes_nothing) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(2);
  driven<std::optional<int>> never(here, receive(rx));
  never.request_stop();
  EXPECT_TRUE(tx.try_send(1));
  here.run_ready();
  EXPECT_TRUE(never.result().stopped());
  EXPECT_EQ(rx.try_receive(), 1);
}

TEST(channel_cancel, a_receiver_that_was_promised_a_message_gets_it_although_it_is_to_stop) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(2);
  driven<std::optional<int>> waits(here, receive(rx));
  here.run_ready();
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_FALSE(rx.try_receive()) << "it is promised to another";
  waits.request_stop();
  here.run_ready();
  EXPECT_EQ(*waits.result(), 1);
}

TEST(channel_cancel, a_message_promised_to_the_loser_of_a_race_stays_in_the_channel) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::channel<int>(2);
  driven<int> races(here, receive_or(rx, other));
  here.run_ready();
  other.open();
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_TRUE(tx.try_send(2));
  EXPECT_EQ(rx.try_receive(), 1) << "one is promised, one is free: the front one goes first";
  here.run_ready();
  EXPECT_EQ(*races.result(), -1);
  EXPECT_EQ(rx.try_receive(), 2);
  EXPECT_FALSE(rx.try_receive());
}

TEST(channel_cancel, what_was_sent_without_a_limit_stays_in_the_channel_likewise) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::unbounded_channel<int>();
  driven<int> races(here, receive_or(rx, other));
  here.run_ready();
  other.open();
  EXPECT_TRUE(tx.send(1));
  EXPECT_TRUE(tx.send(2));
  EXPECT_EQ(rx.size(), 2U);
  here.run_ready();
  EXPECT_EQ(*races.result(), -1);
  EXPECT_EQ(rx.try_receive(), 1);
  EXPECT_EQ(rx.try_receive(), 2);
  EXPECT_FALSE(rx.try_receive());
}

TEST(channel_cancel, a_receiver_that_left_the_line_of_what_has_no_limit_is_not_served) {
  manual_executor here;
  auto [tx, rx] = mpmc::unbounded_channel<int>();
  driven<std::optional<int>> first(here, receive(rx));
  driven<std::optional<int>> second(here, receive(rx));
  here.run_ready();
  first.request_stop();
  here.run_ready();
  EXPECT_TRUE(first.ended() && first.result().stopped());
  EXPECT_TRUE(tx.send(1));
  here.run_ready();
  EXPECT_EQ(*second.result(), 1);
}

TEST(channel_cancel, a_promise_that_is_not_kept_goes_to_the_next_in_line) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::channel<int>(2);
  driven<int> races(here, receive_or(rx, other));
  here.run_ready();
  driven<std::optional<int>> next(here, receive(rx));
  here.run_ready();
  other.open();
  EXPECT_TRUE(tx.try_send(1));
  here.run_ready();
  EXPECT_EQ(*races.result(), -1);
  ASSERT_TRUE(next.ended());
  EXPECT_EQ(*next.result(), 1);
}

TEST(channel_cancel, a_sender_that_is_stopped_in_line_has_sent_nothing) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(1);
  EXPECT_TRUE(tx.try_send(1));
  driven<bool> first(here, send(tx, 2));
  driven<bool> second(here, send(tx, 3));
  here.run_ready();
  first.request_stop();
  here.run_ready();
  EXPECT_TRUE(first.result().stopped());
  EXPECT_EQ(rx.try_receive(), 1);
  EXPECT_FALSE(rx.try_receive()) << "the other has been promised room, and has not run";
  here.run_ready();
  EXPECT_TRUE(*second.result());
  EXPECT_EQ(rx.try_receive(), 3);
}

TEST(channel_cancel, a_send_that_lost_its_race_has_sent_nothing) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::channel<int>(1);
  EXPECT_TRUE(tx.try_send(1));
  driven<bool> races(here, send_or(tx, 2, other));
  here.run_ready();
  driven<bool> next(here, send(tx, 3));
  here.run_ready();
  other.open();
  EXPECT_EQ(rx.try_receive(), 1);  // promises room to the first
  here.run_ready();
  EXPECT_FALSE(*races.result());
  EXPECT_TRUE(*next.result()) << "the room went to the next";
  EXPECT_EQ(rx.try_receive(), 3);
  EXPECT_FALSE(rx.try_receive());
}

TEST(channel_cancel, a_send_that_won_its_race_has_sent) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::channel<int>(1);
  EXPECT_TRUE(tx.try_send(1));
  driven<bool> races(here, send_or(tx, 2, other));
  here.run_ready();
  EXPECT_EQ(rx.try_receive(), 1);
  here.run_one();
  EXPECT_TRUE(races.ended());
  EXPECT_TRUE(*races.result());
  EXPECT_EQ(rx.try_receive(), 2);
}

/// Gives way in its n-th await, since it has a turn of only so many operations.
task<> use_up(skua::turn& of) {
  skua::context& self = co_await skua::current_context();
  self.in_turn = &of;
}
task<std::optional<int>> receive_tired(receiver& from, skua::turn& tired) {
  co_await use_up(tired);
  co_return co_await from.receive();
}
task<bool> send_tired(sender& to, int message, skua::turn& tired) {
  co_await use_up(tired);
  co_return (co_await to.send(message)).has_value();
}

TEST(channel_cancel, a_task_that_gives_way_with_a_promise_passes_it_on_if_it_is_stopped) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(1);
  EXPECT_TRUE(tx.try_send(1));
  {
    skua::turn tired;
    driven<std::optional<int>> receives(here, receive_tired(rx, tired));
    here.run_one();
    EXPECT_FALSE(receives.ended());
    EXPECT_FALSE(rx.try_receive()) << "it is promised";
    receives.request_stop();
    here.run_ready();
    EXPECT_TRUE(receives.result().stopped());
  }
  EXPECT_EQ(rx.try_receive(), 1);
  skua::turn tired;
  driven<bool> sends(here, send_tired(tx, 2, tired));
  here.run_one();
  EXPECT_FALSE(sends.ended());
  EXPECT_TRUE(tx.try_send(3).is_full()) << "the room is promised";
  sends.request_stop();
  here.run_ready();
  EXPECT_TRUE(sends.result().stopped());
  EXPECT_FALSE(rx.try_receive());
  EXPECT_TRUE(tx.try_send(4));
}

TEST(channel_cancel, a_task_that_gave_way_with_a_promise_goes_on_with_it) {
  manual_executor here;
  auto [tx, rx] = mpmc::channel<int>(1);
  skua::turn tired;
  driven<bool> sends(here, send_tired(tx, 2, tired));
  here.run_ready();
  EXPECT_TRUE(*sends.result());
  skua::turn as_tired;
  driven<std::optional<int>> receives(here, receive_tired(rx, as_tired));
  here.run_ready();
  EXPECT_EQ(*receives.result(), 2);
}

task<bool> reserve_or(sender& at, gate& other) {
  auto how = co_await select(at.reserve(), gate::wait(other));
  co_return how.index() == 0 && (*how.get<0>());
}

TEST(channel_cancel, room_reserved_for_the_loser_of_a_race_is_free_again) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::channel<int>(1);
  EXPECT_TRUE(tx.try_send(1));
  driven<bool> races(here, reserve_or(tx, other));
  here.run_ready();
  other.open();
  EXPECT_EQ(rx.try_receive(), 1);
  EXPECT_TRUE(tx.try_send(2).is_full());
  here.run_ready();
  EXPECT_FALSE(*races.result());
  EXPECT_TRUE(tx.try_send(2));
}

task<std::size_t> receive_many_or(receiver& from, std::vector<int>& to, gate& other) {
  auto how = co_await select(from.receive_many(to, 10), gate::wait(other));
  co_return how.index() == 0 ? (*how.get<0>()) : 0;
}

TEST(channel_cancel, receive_many_takes_all_or_nothing) {
  manual_executor here;
  gate other;
  std::vector<int> all;
  auto [tx, rx] = mpmc::channel<int>(3);
  {
    driven<std::size_t> loses(here, receive_many_or(rx, all, other));
    here.run_ready();
    other.open();
    EXPECT_TRUE(tx.try_send(1) && tx.try_send(2));
    here.run_ready();
    EXPECT_EQ(*loses.result(), 0U);
  }
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(rx.try_receive(), 1);
  EXPECT_EQ(rx.try_receive(), 2);
  driven<std::size_t> wins(here, receive_many_or(rx, all, other));
  here.run_ready();
  EXPECT_TRUE(tx.try_send(3) && tx.try_send(4));
  here.run_ready();
  EXPECT_EQ(*wins.result(), 2U);
  EXPECT_EQ(all, (std::vector<int>{3, 4}));
}

TEST(channel_cancel, a_receiver_waits_while_the_last_message_is_promised_to_another) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::channel<int>(3);
  driven<int> first(here, receive_or(rx, other));
  here.run_ready();
  EXPECT_TRUE(tx.try_send(1));
  {
    const auto gone = std::move(tx);
  }
  driven<std::optional<int>> second(here, receive(rx));
  EXPECT_FALSE(rx.is_over());
  here.run_ready();
  EXPECT_EQ(*first.result(), 1);
  ASSERT_TRUE(second.ended()) << "now it is over";
  EXPECT_EQ(*second.result(), std::nullopt);
}

task<bool> closed_or(sender& at, gate& other) {
  co_return (co_await select(at.closed(), gate::wait(other))).index() == 0;
}

TEST(channel_cancel, who_waits_for_the_end_can_be_stopped_at_every_point) {
  manual_executor here;
  gate other;
  auto [tx, rx] = mpmc::channel<int>(3);
  driven<bool> leaves(here, closed_or(tx, other));
  here.run_ready();
  other.open();
  here.run_ready();
  EXPECT_FALSE(*leaves.result());
  driven<bool> loses(here, closed_or(tx, other));
  here.run_ready();
  other.open();
  rx.close();
  here.run_ready();
  EXPECT_FALSE(*loses.result());
  driven<bool> at_once(here, closed_or(tx, other));
  here.run_ready();
  EXPECT_TRUE(*at_once.result());
}

// What waits keeps the channel, whatever becomes of the handles.
TEST(channel_lifetime, waits_may_outlive_all_handles) {
  manual_executor here;
  ledger book;
  {
    auto channel = mpmc::channel<entry>(1);
    std::optional<mpmc::sender<entry>> tx(std::move(channel.first));
    std::optional<mpmc::receiver<entry>> rx(std::move(channel.second));
    auto body = [](mpmc::receiver<entry>& from) -> task<bool> {
      co_return (co_await from.receive()).has_value();
    };
    driven<bool> receives(here, body(*rx));
    here.run_ready();
    rx.reset();
    tx.reset();
    here.run_ready();
    EXPECT_FALSE(*receives.result());
  }
  {
    auto channel = mpmc::channel<entry>(1);
    std::optional<mpmc::sender<entry>> tx(std::move(channel.first));
    std::optional<mpmc::receiver<entry>> rx(std::move(channel.second));
    EXPECT_TRUE(tx->try_send(entry(book)));
    auto body = [](mpmc::sender<entry>& to, ledger& in) -> task<bool> {
      co_return (co_await to.send(entry(in))).is_closed();
    };
    driven<bool> sends(here, body(*tx, book));
    here.run_ready();
    tx.reset();
    EXPECT_TRUE(rx->try_receive()) << "promises room";
    rx.reset();
    here.run_ready();
    EXPECT_TRUE(*sends.result()) << "nobody receives it any more";
  }
  EXPECT_TRUE(book.balanced(2));
}

TEST(channel_lifetime, a_promised_message_ends_with_the_last_receiver) {
  manual_executor here;
  ledger book;
  auto channel = mpmc::channel<entry>(1);
  auto tx = std::move(channel.first);
  std::optional<mpmc::receiver<entry>> rx(std::move(channel.second));
  auto body = [](mpmc::receiver<entry>& from) -> task<bool> {
    co_return (co_await from.receive()).has_value();
  };
  driven<bool> receives(here, body(*rx));
  here.run_ready();
  EXPECT_TRUE(tx.try_send(entry(book)));
  rx.reset();
  EXPECT_TRUE(book.balanced(1));
  here.run_ready();
  EXPECT_FALSE(*receives.result());
}

}  // namespace
