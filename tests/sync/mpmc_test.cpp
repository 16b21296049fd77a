// tests/sync/mpmc_test.cpp: each message goes to one receiver, and all get their share.
#include "skua/sync/mpmc.hpp"

#include "skua/coro/sync_wait.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace mpmc = skua::mpmc;
using skua::spawn;
using skua::task;

class sync_mpmc : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_mpmc, skua_test::every_kind(), skua_test::name_of_kind);

/// One who moves it out of the channel, and thus holds the channel's lock, can be made to stay
/// there.
struct slow_message {
  explicit slow_message(int number) : value(number) {}
  slow_message(slow_message&& from) noexcept : value(from.value) {
    if (std::this_thread::get_id() != stays_in) return;
    is_there = true;
    while (stays) std::this_thread::yield();
  }
  slow_message& operator=(slow_message&&) = delete;

  int value;
  static inline std::atomic<std::thread::id> stays_in;
  static inline std::atomic<bool> stays = false;
  static inline std::atomic<bool> is_there = false;
};

// Who takes the last message lets the channel go, while its sender is on its way out.
TEST(mpmc, who_sends_is_done_with_the_channel_when_the_message_can_be_received) {
  using channel = decltype(mpmc::unbounded_channel<slow_message>());
  skua::runtime rt = skua_test::started(skua_test::one_worker.settings());
  for (int round = 0; round < 20; ++round) {
    auto shared = std::make_unique<channel>(mpmc::unbounded_channel<slow_message>());
    channel& both = *shared;
    slow_message::is_there = false;
    slow_message::stays = true;
    const auto first = [&]() -> task<> {
      slow_message::stays_in = std::this_thread::get_id();
      EXPECT_EQ((co_await both.second.receive())->value, 1);
    };
    const auto last = [&]() -> task<> {
      EXPECT_TRUE((co_await both.second.receive()).has_value());
      shared.reset();
    };
    std::atomic<bool> both_wait = false;
    const auto script = [&]() -> task<> {
      auto one = spawn(first);
      co_await skua::yield();
      auto other = spawn(last);
      co_await skua::yield();
      both_wait = true;
      co_await std::move(one);
      co_await std::move(other);
    };
    std::jthread receivers([&] { rt.block_on(script); });
    while (!both_wait) std::this_thread::yield();
    EXPECT_TRUE(both.first.send(slow_message(1)));
    while (!slow_message::is_there) std::this_thread::yield();  // it holds the channel's lock
    std::jthread sender([&both] { EXPECT_TRUE(both.first.send(slow_message(2))); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // until it waits for that, likely
    slow_message::stays = false;
  }
}

TEST(mpmc, is_closed_when_the_last_receiver_has_gone) {
  auto [tx, rx] = mpmc::channel<int>(2);
  std::optional<mpmc::receiver<int>> first(rx);
  std::optional<mpmc::receiver<int>> second(std::move(rx));
  EXPECT_TRUE(tx.try_send(1));
  first.reset();
  EXPECT_FALSE(tx.is_closed());
  first = second;
  second.reset();
  EXPECT_EQ(first->try_receive(), 1);
  first.reset();
  EXPECT_TRUE(tx.is_closed());
}

TEST(mpmc, a_receiver_can_be_assigned) {
  auto [tx, rx] = mpmc::channel<int>(2);
  auto [other_tx, other_rx] = mpmc::channel<int>(2);
  EXPECT_TRUE(tx.try_send(1));
  other_rx = rx;
  EXPECT_TRUE(other_tx.is_closed());
  const auto& same = other_rx;
  other_rx = same;
  EXPECT_EQ(other_rx.try_receive(), 1);
}

TEST(mpmc, unbounded_has_many_receivers_too) {
  auto [tx, rx] = mpmc::unbounded_channel<int>();
  const auto other = rx;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(tx.send(i));
  for (int i = 0; i < 100; i += 2) {
    EXPECT_EQ(rx.try_receive(), i);
    EXPECT_EQ(other.try_receive(), i + 1);
  }
}

task<long> sum_of(mpmc::receiver<int> from) {
  long sum = 0;
  while (auto one = co_await from.receive()) sum += *one;
  co_return sum;
}
task<> send_all(mpmc::sender<int> to, int count) {
  for (int i = 1; i <= count; ++i) {
    EXPECT_TRUE(co_await to.send(i));
  }
}

TEST_P(sync_mpmc, nothing_is_lost_between_many_and_many) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = mpmc::channel<int>(5);
    std::vector<skua::join_handle<long>> receivers;
    for (int i = 0; i < 8; ++i) receivers.push_back(spawn(sum_of(rx)));
    for (int i = 0; i < 8; ++i) spawn(send_all(tx, 500)).detach();
    {
      const auto gone = std::move(tx);
    }
    long sum = 0;
    for (auto& one : receivers) sum += co_await std::move(one);
    EXPECT_EQ(sum, 8L * 500 * 501 / 2);
  };
  rt.block_on(body());
}

}  // namespace
