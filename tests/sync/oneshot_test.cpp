// tests/sync/oneshot_test.cpp: one message arrives, or both ends learn that it will not.
#include "skua/sync/oneshot.hpp"

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

#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

namespace oneshot = skua::oneshot;
using skua::task;
using skua_test::driven;
using skua_test::entry;
using skua_test::gate;
using skua_test::ledger;
using skua_test::manual_executor;

class sync_oneshot : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_oneshot, skua_test::every_kind(), skua_test::name_of_kind);

TEST(oneshot, gives_its_message_once) {
  auto [tx, rx] = oneshot::channel<std::unique_ptr<int>>();
  EXPECT_FALSE(rx.try_receive());
  EXPECT_TRUE(tx.send(std::make_unique<int>(7)));
  EXPECT_EQ(**skua::sync_wait(rx.receive()), 7);
  EXPECT_FALSE(skua::sync_wait(rx.receive()));
  EXPECT_FALSE(rx.try_receive());
}

TEST(oneshot, gives_nothing_if_the_sender_has_gone) {
  auto [tx, rx] = oneshot::channel<int>();
  {
    const auto gone = std::move(tx);
  }
  EXPECT_EQ(skua::sync_wait(std::move(rx)), std::nullopt);
}

TEST(oneshot, gives_the_message_back_if_nobody_wants_it) {
  ledger book;
  {
    auto [tx, rx] = oneshot::channel<entry>();
    EXPECT_FALSE(tx.is_closed());
    {
      const auto gone = std::move(rx);
    }
    EXPECT_TRUE(tx.is_closed());
    skua::sync_wait(tx.closed());
    auto refused = tx.send(entry(book));
    ASSERT_TRUE(refused.is_closed());
    EXPECT_TRUE(refused.rejected().whole());
  }
  EXPECT_TRUE(book.balanced(1));
}

TEST(oneshot, destroys_a_message_that_nobody_fetches) {
  ledger book;
  {
    auto [tx, rx] = oneshot::channel<entry>();
    EXPECT_TRUE(tx.send(entry(book)));
    EXPECT_EQ(book.ended, 0);
    {
      const auto gone = std::move(rx);
    }
    EXPECT_EQ(book.ended, 1);
  }
  EXPECT_TRUE(book.balanced(1));
}

TEST(oneshot, that_is_closed_still_gives_what_was_sent_before) {
  auto [tx, rx] = oneshot::channel<int>();
  EXPECT_TRUE(tx.send(1));
  rx.close();
  EXPECT_EQ(skua::sync_wait(rx.receive()), 1);
  auto [late, waits] = oneshot::channel<int>();
  waits.close();
  EXPECT_EQ(skua::sync_wait(waits.receive()), std::nullopt);
  EXPECT_TRUE(late.send(2).is_closed());
}

TEST(oneshot, handles_can_be_assigned) {
  auto [tx, rx] = oneshot::channel<int>();
  auto [other_tx, other_rx] = oneshot::channel<int>();
  tx = std::move(other_tx);
  EXPECT_EQ(skua::sync_wait(rx.receive()), std::nullopt) << "its sender is another's now";
  rx = std::move(other_rx);
  EXPECT_TRUE(tx.send(5));
  EXPECT_EQ(rx.blocking_receive(), 5);
}

TEST(oneshot_death, sends_once) {
  auto [tx, rx] = oneshot::channel<int>();
  EXPECT_TRUE(tx.send(1));
  EXPECT_DEATH((void)tx.send(2), "sends once");
  const auto other = std::move(rx);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what it says
  EXPECT_DEATH((void)rx.try_receive(), "used while it has a channel");
}

task<std::optional<int>> receive(oneshot::receiver<int>& from) {
  co_return co_await from.receive();
}
task<int> receive_or(oneshot::receiver<int>& from, gate& other) {
  auto how = co_await skua::select(from.receive(), gate::wait(other));
  co_return how.index() == 0 ? how.get<0>()->value_or(0) : -1;
}

TEST(oneshot_cancel, a_receiver_that_is_stopped_leaves_the_message) {
  manual_executor here;
  auto [tx, rx] = oneshot::channel<int>();
  {
    driven<std::optional<int>> never(here, receive(rx));
    never.request_stop();
    here.run_ready();
    EXPECT_TRUE(never.result().stopped());
  }
  {
    driven<std::optional<int>> waits(here, receive(rx));
    here.run_ready();
    waits.request_stop();
    here.run_ready();
    EXPECT_TRUE(waits.result().stopped());
  }
  gate other;
  driven<int> loses(here, receive_or(rx, other));
  here.run_ready();
  other.open();
  EXPECT_TRUE(tx.send(1));
  here.run_ready();
  EXPECT_EQ(*loses.result(), -1);
  EXPECT_EQ(rx.try_receive(), 1);
}

task<bool> closed_or(oneshot::sender<int>& at, gate& other) {
  co_return (co_await skua::select(at.closed(), gate::wait(other))).index() == 0;
}

TEST(oneshot_cancel, a_sender_that_waits_for_the_end_can_be_stopped_at_every_point) {
  manual_executor here;
  gate other;
  auto [tx, rx] = oneshot::channel<int>();
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
  driven<bool> wins(here, closed_or(tx, other));
  here.run_ready();
  EXPECT_TRUE(*wins.result());
}

TEST(oneshot_cancel, a_wait_may_outlive_both_handles) {
  manual_executor here;
  auto ends = oneshot::channel<int>();
  std::optional<oneshot::sender<int>> tx(std::move(ends.first));
  std::optional<oneshot::receiver<int>> rx(std::move(ends.second));
  driven<std::optional<int>> waits(here, receive(*rx));
  here.run_ready();
  rx.reset();
  tx.reset();
  here.run_ready();
  EXPECT_EQ(*waits.result(), std::nullopt);
}

task<> answer(oneshot::sender<int> to, int with) {
  co_await skua::yield();
  EXPECT_TRUE(to.send(with));
}

TEST_P(sync_oneshot, brings_an_answer_from_another_task) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 100; ++i) {
      auto [tx, rx] = oneshot::channel<int>();
      skua::spawn(answer(std::move(tx), i)).detach();
      EXPECT_EQ(co_await std::move(rx), i);
    }
  };
  rt.block_on(body());
}

task<int> await_closed(oneshot::sender<int> at) {
  co_await at.closed();
  co_return 1;
}

/// Sends to itself, until it is stopped.
task<> talks_to_itself(std::optional<oneshot::receiver<int>>& from, bool& under_way) {
  for (;;) {
    auto ends = oneshot::channel<int>();
    from.emplace(std::move(ends.second));
    EXPECT_TRUE(ends.first.send(1));
    under_way = true;
    EXPECT_EQ(co_await from->receive(), 1);
    under_way = false;
  }
}

// At once, and after a wait.
TEST_P(sync_oneshot, brings_what_cannot_be_assigned) {
  struct constant {
    const int value;
  };
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = oneshot::channel<constant>();
    EXPECT_TRUE(tx.send({1}));
    const auto first = co_await rx.receive();
    EXPECT_EQ(first.value().value, 1);
    auto [later, waits] = oneshot::channel<constant>();
    auto sends = skua::spawn([](oneshot::sender<constant> to) { EXPECT_TRUE(to.send({2})); },
                             std::move(later));
    const auto second = co_await std::move(waits);
    EXPECT_EQ(second.value().value, 2);
    co_await std::move(sends);
  };
  rt.block_on(body());
}

TEST_P(sync_oneshot, message_that_is_there_stays_if_the_turn_is_used_up_and_the_task_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    std::optional<oneshot::receiver<int>> from;
    bool under_way = false;
    auto talks = skua::spawn_local(talks_to_itself(from, under_way));
    for (int i = 0; i < 3; ++i) co_await skua::yield();  // which comes back: it gives way
    talks.abort();
    EXPECT_TRUE((co_await talks.outcome()).stopped());
    EXPECT_TRUE(under_way);
    EXPECT_EQ(from->try_receive(), 1);
  };
  rt.block_on(body());
}

// Nobody needs the lock who has the last reference; who has just let go of another may hold it.
TEST(oneshot_stress, ends_that_go_at_once_free_it_once) {
  ledger book;
  constexpr int times = 500;
  for (int i = 0; i < times; ++i) {
    auto [tx, rx] = oneshot::channel<entry>();
    std::thread goes([to = std::move(tx), i, &book]() mutable {
      if (i % 2 == 0) (void)to.send(entry(book));
    });
    {
      const auto gone = std::move(rx);
    }
    goes.join();
  }
  EXPECT_TRUE(book.balanced(times / 2));
}

TEST_P(sync_oneshot, tells_the_sender_that_nobody_waits) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = oneshot::channel<int>();
    auto waits = skua::spawn(await_closed(std::move(tx)));
    co_await skua::yield();
    {
      const auto gone = std::move(rx);
    }
    EXPECT_EQ(co_await std::move(waits), 1);
  };
  rt.block_on(body());
}

TEST_P(sync_oneshot, reaches_a_thread_that_blocks) {
  auto rt = start();
  auto [tx, rx] = oneshot::channel<int>();
  std::thread waits([from = std::move(rx)] { EXPECT_EQ(from.blocking_receive(), 3); });
  rt.block_on(answer(std::move(tx), 3));
  waits.join();
  auto body = []() -> task<> {
    auto [to, from] = oneshot::channel<int>();
    EXPECT_THROW((void)from.blocking_receive(), std::logic_error);
    co_return;
  };
  rt.block_on(body());
}

}  // namespace
