// tests/sync/mpsc_test.cpp: every message arrives once, in order, and both ends learn of the end.
#include "skua/sync/mpsc.hpp"

#include "skua/base/sanitizer.hpp"
#include "skua/coro/recycler.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace mpsc = skua::mpsc;
using skua::spawn;
using skua::task;
using skua_test::entry;
using skua_test::ledger;

class sync_mpsc : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_mpsc, skua_test::every_kind(), skua_test::name_of_kind);

TEST(mpsc, gives_messages_in_order_and_says_when_it_is_full_or_empty) {
  auto [tx, rx] = mpsc::channel<int>(2);
  EXPECT_EQ(tx.capacity(), 2U);
  EXPECT_FALSE(rx.try_receive());
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_TRUE(tx.try_send(2));
  auto refused = tx.try_send(3);
  EXPECT_TRUE(refused.is_full());
  EXPECT_FALSE(refused.is_closed());
  EXPECT_EQ(refused.rejected(), 3);
  EXPECT_EQ(rx.size(), 2U);
  EXPECT_EQ(rx.try_receive(), 1);
  EXPECT_TRUE(tx.try_send(4));
  EXPECT_EQ(rx.try_receive(), 2);
  EXPECT_EQ(rx.try_receive(), 4);
  EXPECT_FALSE(rx.try_receive());
  EXPECT_TRUE(rx.empty());
}

TEST(mpsc, carries_what_can_only_be_moved) {
  auto [tx, rx] = mpsc::channel<std::unique_ptr<std::string>>(1);
  EXPECT_TRUE(tx.try_send(std::make_unique<std::string>("one")));
  auto refused = tx.try_send(std::make_unique<std::string>("two"));
  ASSERT_TRUE(refused.is_full());
  EXPECT_EQ(*std::move(refused).rejected(), "two");
  EXPECT_EQ(**rx.try_receive(), "one");
}

TEST(mpsc, is_over_when_the_last_sender_has_gone_and_all_was_received) {
  auto [tx, rx] = mpsc::channel<int>(4);
  std::optional<mpsc::sender<int>> first(tx);
  std::optional<mpsc::sender<int>> second(std::move(tx));
  EXPECT_TRUE(first->same_channel(*second));
  EXPECT_TRUE(first->try_send(1));
  first.reset();
  EXPECT_TRUE(second->try_send(2));
  second.reset();
  EXPECT_FALSE(rx.is_over());
  EXPECT_EQ(skua::sync_wait(rx.receive()), 1);
  EXPECT_EQ(skua::sync_wait(rx.receive()), 2);
  EXPECT_TRUE(rx.is_over());
  EXPECT_EQ(skua::sync_wait(rx.receive()), std::nullopt);
  EXPECT_EQ(skua::sync_wait(rx.receive()), std::nullopt) << "again, if asked again";
}

TEST(mpsc, that_is_closed_refuses_and_can_be_drained) {
  auto [tx, rx] = mpsc::channel<int>(4);
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_FALSE(tx.is_closed());
  rx.close();
  EXPECT_TRUE(tx.is_closed() && rx.is_closed());
  EXPECT_TRUE(tx.try_send(2).is_closed());
  auto refused = skua::sync_wait(tx.send(3));
  EXPECT_TRUE(refused.is_closed());
  EXPECT_EQ(refused.rejected(), 3);
  EXPECT_FALSE(skua::sync_wait(tx.reserve()));
  EXPECT_FALSE(tx.try_reserve());
  EXPECT_EQ(skua::sync_wait(rx.receive()), 1);
  EXPECT_EQ(skua::sync_wait(rx.receive()), std::nullopt);
}

TEST(mpsc, without_receiver_refuses_and_gives_the_message_back) {
  ledger book;
  {
    auto [tx, rx] = mpsc::channel<entry>(4);
    EXPECT_TRUE(tx.try_send(entry(book)));
    {
      const auto gone = std::move(rx);
      EXPECT_EQ(book.ended, 0);
    }
    EXPECT_EQ(book.ended, 1) << "what was inside is destroyed with the receiver";
    auto refused = skua::sync_wait(tx.send(entry(book)));
    ASSERT_TRUE(refused.is_closed());
    EXPECT_TRUE(refused.rejected().whole());
    skua::sync_wait(tx.closed());
  }
  EXPECT_TRUE(book.balanced(2));
}

TEST(mpsc, a_message_may_hold_a_sender_of_its_own_channel) {
  struct letter {
    mpsc::sender<letter> reply;
  };
  auto [tx, rx] = mpsc::channel<letter>(4);
  EXPECT_TRUE(tx.try_send(letter{tx}));
  const auto to = tx;
  EXPECT_TRUE(to.try_send(letter{std::move(tx)}));
}

TEST(mpsc, a_permit_keeps_its_place_until_it_is_used_or_gone) {
  auto [tx, rx] = mpsc::channel<int>(2);
  auto first = tx.try_reserve();
  mpsc::permit<int> second = skua::sync_wait(tx.reserve());
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(tx.try_reserve());
  EXPECT_TRUE(tx.try_send(9).is_full());
  EXPECT_FALSE(rx.try_receive());
  second.send(2);
  EXPECT_FALSE(second);
  first.release();
  EXPECT_TRUE(tx.try_send(3)) << "its place is free again";
  EXPECT_EQ(rx.try_receive(), 2);
  first = tx.try_reserve();
  second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is what it says
  EXPECT_TRUE(second);
}

TEST(mpsc, a_permit_may_be_used_after_the_channel_was_closed_and_the_sender_has_gone) {
  auto [tx, rx] = mpsc::channel<int>(2);
  auto room = tx.try_reserve();
  rx.close();
  {
    const auto gone = std::move(tx);
  }
  EXPECT_FALSE(rx.is_over()) << "there is one to come";
  room.send(1);
  EXPECT_EQ(skua::sync_wait(rx.receive()), 1);
  EXPECT_TRUE(rx.is_over());
}

TEST(mpsc, a_permit_without_receiver_destroys_its_message) {
  ledger book;
  {
    auto [tx, rx] = mpsc::channel<entry>(2);
    auto room = tx.try_reserve();
    {
      const auto gone = std::move(rx);
    }
    {
      const auto gone = std::move(tx);
    }
    room.send(entry(book));
    EXPECT_EQ(book.ended, 1);
  }
  EXPECT_TRUE(book.balanced(1));
}

TEST(mpsc, handles_can_be_assigned) {
  auto [tx, rx] = mpsc::channel<int>(1);
  auto [other_tx, other_rx] = mpsc::channel<int>(1);
  EXPECT_TRUE(other_tx.try_send(7));
  tx = other_tx;
  EXPECT_TRUE(rx.is_over()) << "its only sender is another's now";
  rx = std::move(other_rx);
  EXPECT_EQ(rx.try_receive(), 7);
  EXPECT_TRUE(tx.try_send(8));
  EXPECT_EQ(rx.try_receive(), 8);
}

TEST(mpsc_death, a_handle_that_was_moved_from_says_so) {
  auto [tx, rx] = mpsc::channel<int>(1);
  const auto other_tx = std::move(tx);
  const auto other_rx = std::move(rx);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_DEATH((void)tx.try_send(1), "used while it has a channel");
  EXPECT_DEATH((void)rx.try_receive(), "used while it has a channel");
  // NOLINTEND(bugprone-use-after-move)
}

TEST(mpsc_death, a_permit_sends_once) {
  auto [tx, rx] = mpsc::channel<int>(1);
  auto room = tx.try_reserve();
  room.send(1);
  EXPECT_DEATH(room.send(2), "sends once");
}

TEST(mpsc_death, a_sent_message_does_not_come_back) {
  auto [tx, rx] = mpsc::channel<int>(1);
  auto result = tx.try_send(1);
  EXPECT_DEATH((void)result.rejected(), "only if it was not sent");
}

TEST(mpsc, of_more_memory_than_there_is_throws) {
  EXPECT_THROW((void)mpsc::channel<std::string>(std::size_t(-1) / 8), std::bad_alloc);
}

TEST(mpsc, unbounded_takes_whatever_comes_and_frees_it) {
  ledger book;
  constexpr int count = 20'000;
  {
    auto [tx, rx] = mpsc::unbounded_channel<entry>();
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < count; ++i) EXPECT_TRUE(tx.send(entry(book)));
      EXPECT_EQ(rx.size(), std::size_t(count));
      for (int i = 0; i < count / 2; ++i) EXPECT_TRUE(rx.try_receive());
      for (int i = 0; i < count / 2; ++i) EXPECT_TRUE(tx.send(entry(book)));
      while (rx.try_receive()) {
      }
    }
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(tx.send(entry(book)));
    rx.close();
    EXPECT_TRUE(tx.send(entry(book)).is_closed());
  }
  EXPECT_TRUE(book.balanced(3 * (count + count / 2) + 101));
}

TEST(mpsc, unbounded_keeps_the_order_while_it_grows_and_shrinks) {
  auto [tx, rx] = mpsc::unbounded_channel<int>();
  int sent = 0;
  int received = 0;
  for (const int size : {1, 15, 16, 17, 500, 3, 10'000, 1, 40}) {
    for (int i = 0; i < size; ++i) EXPECT_TRUE(tx.send(sent++));
    for (int i = 0; i < (size + 1) / 2; ++i) EXPECT_EQ(rx.try_receive(), received++);
  }
  while (auto one = rx.try_receive()) EXPECT_EQ(*one, received++);
  EXPECT_EQ(received, sent);
}

TEST(mpsc, unbounded_keeps_the_order_of_messages_of_any_size) {
  using large = std::array<int, 200>;
  auto [tx, rx] = mpsc::unbounded_channel<large>();
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(tx.send(large{i}));
  for (int i = 0; i < 500; ++i) EXPECT_EQ((*rx.try_receive())[0], i);
  EXPECT_FALSE(rx.try_receive());
}

TEST(mpsc, unbounded_leaves_its_memory_to_those_who_need_some_next) {
  if constexpr (skua::built_with_asan || skua::built_with_tsan)
    GTEST_SKIP() << "with a sanitizer nothing is kept";
  constexpr int count = 5'000;
  auto [tx, rx] = mpsc::unbounded_channel<std::uint64_t>();
  for (int i = 0; i < count; ++i) EXPECT_TRUE(tx.send(7U));
  const std::size_t full = skua::recycled_frame_bytes();
  while (rx.try_receive()) {
  }
  const std::size_t empty = skua::recycled_frame_bytes();
  EXPECT_GT(empty, full + count * sizeof(std::uint64_t) * 9 / 10);
  for (int i = 0; i < count; ++i) EXPECT_TRUE(tx.send(7U));
  EXPECT_LT(skua::recycled_frame_bytes(), empty - count * sizeof(std::uint64_t) / 2)
      << "used again";
}

TEST(mpsc, unbounded_counts_what_receivers_have_not_looked_at_yet) {
  auto [tx, rx] = mpsc::unbounded_channel<int>();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(tx.send(i));
  EXPECT_EQ(rx.size(), 3U);
  EXPECT_EQ(rx.try_receive(), 0);
  for (int i = 3; i < 5; ++i) EXPECT_TRUE(tx.send(i));
  EXPECT_EQ(rx.size(), 4U) << "some are on the receiver's side, some still on the senders'";
  std::vector<int> all;
  auto rest = [&]() -> task<std::size_t> { co_return co_await rx.receive_many(all, 100); };
  EXPECT_EQ(skua::sync_wait(rest()), 4U) << "of both sides";
  EXPECT_EQ(all, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_TRUE(rx.empty());
}

TEST(mpsc, unbounded_is_not_over_while_anything_is_on_either_side) {
  auto [tx, rx] = mpsc::unbounded_channel<int>();
  EXPECT_TRUE(tx.send(1));
  EXPECT_TRUE(tx.send(2));
  EXPECT_EQ(rx.try_receive(), 1);
  EXPECT_TRUE(tx.send(3));
  {
    const auto gone = std::move(tx);
  }
  EXPECT_FALSE(rx.is_over());
  EXPECT_EQ(rx.try_receive(), 2);
  EXPECT_FALSE(rx.is_over()) << "one that nobody has looked at";
  EXPECT_EQ(skua::sync_wait(rx.receive()), 3);
  EXPECT_TRUE(rx.is_over());
  EXPECT_EQ(skua::sync_wait(rx.receive()), std::nullopt);
}

TEST(mpsc, unbounded_destroys_what_is_on_either_side_with_the_receiver) {
  ledger book;
  auto [tx, rx] = mpsc::unbounded_channel<entry>();
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(tx.send(entry(book)));
  EXPECT_TRUE(rx.try_receive());
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(tx.send(entry(book)));
  {
    const auto moved = std::move(rx);
    EXPECT_EQ(moved.size(), 79U);
  }
  EXPECT_TRUE(book.balanced(80));
  EXPECT_TRUE(tx.send(entry(book)).is_closed());
}

TEST(mpsc, receive_many_gives_what_is_there_and_no_more_than_was_asked_for) {
  auto body = []() -> task<> {
    auto [tx, rx] = mpsc::unbounded_channel<int>();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(tx.send(i));
    std::vector<int> all;
    EXPECT_EQ(co_await rx.receive_many(all, 0), 0U);
    EXPECT_EQ(co_await rx.receive_many(all, 40), 40U);
    EXPECT_EQ(co_await rx.receive_many(all, std::size_t(-1)), 60U);
    std::vector<int> expected(100);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
    rx.close();
    EXPECT_EQ(co_await rx.receive_many(all, 1), 0U);
  };
  skua::sync_wait(body());
}

/// A container that has no memory.
struct no_room {
  [[nodiscard]] std::size_t size() const { return 0; }
  [[nodiscard]] std::size_t capacity() const { return 0; }
  void reserve(std::size_t) { throw std::bad_alloc(); }
  void push_back(int) {}
};

TEST(mpsc, receive_many_loses_nothing_if_the_container_cannot_grow) {
  auto [tx, rx] = mpsc::channel<int>(4);
  EXPECT_TRUE(tx.try_send(1) && tx.try_send(2));
  no_room nowhere;
  EXPECT_THROW(skua::sync_wait(rx.receive_many(nowhere, 9)), std::bad_alloc);
  EXPECT_EQ(rx.try_receive(), 1);
  EXPECT_EQ(rx.try_receive(), 2);
}

task<> send_all(mpsc::sender<int> tx, int from, int to) {
  for (int i = from; i < to; ++i) {
    EXPECT_TRUE(co_await tx.send(i));
  }
}

TEST_P(sync_mpsc, a_slow_receiver_holds_the_sender_back) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = mpsc::channel<int>(3);
    auto sends = spawn(send_all(std::move(tx), 0, 1'000));
    int expected = 0;
    while (auto one = co_await rx.receive()) {
      EXPECT_EQ(*one, expected++);
      EXPECT_LE(rx.size(), 3U);
    }
    EXPECT_EQ(expected, 1'000);
    co_await std::move(sends);
  };
  rt.block_on(body());
}

TEST_P(sync_mpsc, each_senders_messages_arrive_in_its_order) {
  auto rt = start();
  auto body = []() -> task<> {
    constexpr int each = 500;
    constexpr int senders = 8;
    auto [tx, rx] = mpsc::channel<int>(7);
    for (int i = 0; i < senders; ++i) spawn(send_all(tx, i * each, (i + 1) * each)).detach();
    {
      const auto gone = std::move(tx);
    }
    std::vector<int> next(senders);
    int count = 0;
    while (auto one = co_await rx.receive()) {
      EXPECT_EQ(*one % each, next[std::size_t(*one / each)]++);
      ++count;
    }
    EXPECT_EQ(count, senders * each);
  };
  rt.block_on(body());
}

task<int> await_closed(mpsc::sender<int> tx) {
  co_await tx.closed();
  co_return 1;
}
task<int> send_refused(mpsc::sender<int> tx, int message) {
  auto result = co_await tx.send(message);
  EXPECT_TRUE(result.is_closed());
  co_return result.rejected();
}

TEST_P(sync_mpsc, senders_that_wait_are_told_that_the_receiver_has_gone) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = mpsc::channel<int>(1);
    EXPECT_TRUE(tx.try_send(0));
    auto first = spawn(send_refused(tx, 1));
    auto second = spawn(send_refused(tx, 2));
    auto third = spawn(await_closed(tx));
    co_await skua::yield();
    {
      const auto gone = std::move(rx);
    }
    EXPECT_EQ(co_await std::move(first), 1);
    EXPECT_EQ(co_await std::move(second), 2);
    EXPECT_EQ(co_await std::move(third), 1);
  };
  rt.block_on(body());
}

class sync_mpsc_alone : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_mpsc_alone, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

// A task that always finds a message, or room, must not keep the others from their turn.
TEST_P(sync_mpsc_alone, a_loop_that_never_waits_leaves_time_for_others) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = mpsc::channel<int>(1);
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

TEST_P(sync_mpsc, threads_send_and_receive_by_blocking) {
  auto rt = start();
  auto [tx, rx] = mpsc::channel<int>(2);
  auto [back_tx, back_rx] = mpsc::channel<int>(2);
  std::thread sends([to = std::move(tx)] {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(to.blocking_send(i));
  });
  std::thread receives([from = std::move(back_rx)] {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(from.blocking_receive(), 2 * i);
    EXPECT_EQ(from.blocking_receive(), std::nullopt);
  });
  auto body = [](mpsc::receiver<int> from, mpsc::sender<int> to) -> task<> {
    while (auto one = co_await from.receive()) {
      EXPECT_TRUE(co_await to.send(2 * *one));
    }
  };
  rt.block_on(body(std::move(rx), std::move(back_tx)));
  sends.join();
  receives.join();
}

}  // namespace
