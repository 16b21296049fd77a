// tests/sync/stream_channel_test.cpp: channels as streams, and streams into channels.
#include "skua/sync/stream_channel.hpp"

#include "skua/coro/race.hpp"
#include "skua/coro/stream.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/when_all.hpp"
#include "skua/coro/yield.hpp"
#include "skua/sync/broadcast.hpp"
#include "skua/sync/mpmc.hpp"
#include "skua/sync/mpsc.hpp"
#include "skua/sync/spsc.hpp"
#include "skua/sync/watch.hpp"
#include "support/driven.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

namespace stream = skua::stream;
using skua::async_generator;
using skua::sync_wait;
using skua::task;
using skua_test::driven;
using skua_test::manual_executor;
using ints = std::vector<int>;

async_generator<int> numbers(int count) {
  for (int i = 0; i < count; ++i) {
    co_await skua::yield();
    co_yield i;
  }
}

TEST(from, gives_messages_until_the_end_of_the_channel) {
  auto [tx, rx] = skua::mpsc::channel<int>(8);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(tx.try_send(i));
  tx = skua::mpsc::channel<int>(1).first;
  EXPECT_EQ(sync_wait(stream::collect(stream::from(std::move(rx)))), (ints{0, 1, 2}));
}

TEST(from, works_with_every_channel_of_messages) {
  auto [many_tx, many_rx] = skua::mpmc::unbounded_channel<int>();
  EXPECT_TRUE(many_tx.send(1));
  auto [one_tx, one_rx] = skua::spsc::channel<std::unique_ptr<int>>(2);
  EXPECT_TRUE(one_tx.try_send(std::make_unique<int>(2)));
  auto open = [](std::unique_ptr<int> n) { return *n; };
  EXPECT_EQ(sync_wait(stream::collect(stream::from(many_rx) | stream::take(1))), (ints{1}));
  EXPECT_EQ(sync_wait(stream::collect(stream::from(one_rx) | stream::map(open) | stream::take(1))),
            (ints{2}));
}

TEST(from, a_receiver_with_a_name_keeps_what_was_not_asked_for) {
  auto [tx, rx] = skua::mpsc::channel<int>(8);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(tx.try_send(i));
  EXPECT_EQ(sync_wait(stream::collect(stream::from(rx) | stream::take(2))), (ints{0, 1}));
  EXPECT_EQ(rx.try_receive(), 2);
}

TEST(from, a_stop_loses_no_message) {
  manual_executor here;
  auto [tx, rx] = skua::mpsc::channel<int>(8);
  auto body = [](auto& receiver) -> task<> {
    auto ignore = [](int) {};
    co_await stream::for_each(stream::from(receiver), ignore);
  };
  driven<void> all(here, body(rx));
  here.run_ready();
  EXPECT_TRUE(tx.try_send(1));  // it is promised to the one who waits
  all.request_stop();
  here.run_ready();
  ASSERT_FALSE(all.ended() && rx.size() == 0 && all.result().has_value());
  EXPECT_TRUE(tx.try_send(2));
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().stopped());
  EXPECT_EQ(rx.try_receive(), 2) << "what it had not taken is there";
}

TEST(from, a_lost_race_loses_no_message) {
  auto [tx, rx] = skua::mpsc::channel<int>(8);
  auto body = [](auto& sender, auto& receiver) -> task<int> {
    auto all = stream::from(receiver);
    auto sends = [](auto& to) -> task<> {
      co_await skua::yield();
      EXPECT_TRUE(to.try_send(7));
    };
    auto first = co_await skua::select(all.next(), sends(sender));
    EXPECT_TRUE(first.template is<1>());
    auto after = co_await all.next();
    EXPECT_FALSE(after.has_value()) << "a generator that lost a race has ended";
    auto again = stream::from(receiver);
    auto one = co_await again.next();
    co_return one.value_or(-1);
  };
  EXPECT_EQ(sync_wait(body(tx, rx)), 7);
}

TEST(from, a_broadcast_tells_of_what_was_lost) {
  auto [tx, rx] = skua::broadcast::channel<int>(2);
  for (int i = 0; i < 5; ++i) tx.send(i);
  tx = skua::broadcast::channel<int>(1).first;
  ints got;
  std::uint64_t lost = 0;
  auto note = [&](const skua::broadcast::reception<int>& one) {
    if (one) got.push_back(*one);
    lost += one.lagged();
  };
  sync_wait(stream::for_each(stream::from(rx), note));
  EXPECT_EQ(got, (ints{3, 4}));
  EXPECT_EQ(lost, 3U);
  EXPECT_TRUE(sync_wait(stream::collect(stream::from(std::move(rx)))).empty());
}

TEST(from, a_watch_gives_the_latest_and_every_change_that_is_seen) {
  auto [tx, rx] = skua::watch::channel<int>(1);
  auto body = [](auto& sender, auto& receiver) -> task<ints> {
    ints seen;
    auto values = stream::from(receiver);
    auto first = co_await values.next();
    seen.push_back(**first);
    sender.send(2);
    sender.send(3);
    auto second = co_await values.next();
    seen.push_back(**second);
    sender = skua::watch::channel<int>(0).first;
    auto last = co_await values.next();
    EXPECT_FALSE(last.has_value());
    co_return seen;
  };
  EXPECT_EQ(sync_wait(body(tx, rx)), (ints{1, 3}));
}

template <typename Sender, typename Receiver>
ints through(std::pair<Sender, Receiver> ends) {
  auto body = [](Sender tx, Receiver rx) -> task<ints> {
    auto [sent, got] = co_await skua::when_all(stream::forward(numbers(20), std::move(tx)),
                                               stream::collect(stream::from(std::move(rx))));
    EXPECT_TRUE(sent);
    co_return std::move(got);
  };
  return sync_wait(body(std::move(ends.first), std::move(ends.second)));
}

TEST(forward, sends_everything_and_ends_the_channel) {
  ints all;
  for (int i = 0; i < 20; ++i) all.push_back(i);
  EXPECT_EQ(through(skua::mpsc::channel<int>(3)), all);
  EXPECT_EQ(through(skua::mpsc::channel<int>(0)), all);
  EXPECT_EQ(through(skua::mpmc::channel<int>(1)), all);
  EXPECT_EQ(through(skua::mpsc::unbounded_channel<int>()), all);
  EXPECT_EQ(through(skua::spsc::channel<int>(3)), all);
}

TEST(forward, to_nobody_gives_the_value_back) {
  auto [tx, rx] = skua::mpsc::channel<int>(3);
  auto body = [](auto& sender, auto& receiver) -> task<int> {
    auto two = stream::from(receiver) | stream::take(2);
    auto takes_two = [](auto values, auto& whose) -> task<> {
      while (auto one = co_await values.next()) (void)*one;
      whose.close();
    };
    auto [sent, nothing] = co_await skua::when_all(stream::forward(numbers(20), sender),
                                                   takes_two(std::move(two), receiver));
    EXPECT_TRUE(sent.is_closed());
    int next = 2;  // what was inside when it was closed
    while (auto one = receiver.try_receive()) EXPECT_EQ(*one, next++);
    EXPECT_EQ(sent.rejected(), next);
    co_return next;
  };
  EXPECT_LT(sync_wait(body(tx, rx)), 7);
}

TEST(forward, throws_what_the_source_throws) {
  auto [tx, rx] = skua::mpsc::channel<int>(3);
  auto fails = [](int n) {
    if (n == 2) throw std::runtime_error("two");
    return n;
  };
  EXPECT_THROW(static_cast<void>(
                   sync_wait(stream::forward(numbers(20) | stream::map(fails), std::move(tx)))),
               std::runtime_error);
  EXPECT_EQ(sync_wait(stream::collect(stream::from(std::move(rx)))), (ints{0, 1}));
}

TEST(forward, stopped_while_there_is_no_room_has_sent_what_is_inside) {
  manual_executor here;
  auto [tx, rx] = skua::mpsc::channel<int>(2);
  auto body = [](auto sender) -> task<> {
    static_cast<void>(co_await stream::forward(numbers(20), std::move(sender)));
  };
  driven<void> all(here, body(std::move(tx)));
  here.run_ready();
  EXPECT_FALSE(all.ended());
  all.request_stop();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(sync_wait(stream::collect(stream::from(std::move(rx)))), (ints{0, 1}));
}

}  // namespace
