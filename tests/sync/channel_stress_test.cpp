// tests/sync/channel_stress_test.cpp: whatever senders and receivers do, sent is what is received.
#include "skua/base/random.hpp"
#include "skua/coro/race.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "skua/sync/mpmc.hpp"
#include "support/budget.hpp"
#include "support/started.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace mpmc = skua::mpmc;
using skua::random_generator;
using skua::task;

/// SKUA_TEST_SEED, or another one each time.
std::uint64_t seed_of_this_run() {
  const char* const set = std::getenv("SKUA_TEST_SEED");
  if (set != nullptr && *set != '\0') return std::strtoull(set, nullptr, 10);
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// What became of every message.
struct books {
  explicit books(std::size_t messages) : sent(messages), received(messages) {}

  std::vector<std::atomic<int>> sent;
  std::vector<std::atomic<int>> received;
  std::atomic<std::size_t> next = 0;

  /// The number of a new message; none left: the number of messages.
  std::size_t number() { return std::min(next++, sent.size()); }
  bool more() const { return next < sent.size(); }
};

task<> few_turns(std::uint64_t count) {
  for (; count > 0; --count) co_await skua::yield();
}

using sender = mpmc::sender<std::size_t>;
using unbounded_sender = mpmc::unbounded_sender<std::size_t>;
using receiver = mpmc::receiver<std::size_t>;

/// True if it was sent.
task<bool> send_in_a_race(sender& to, std::size_t message, std::uint64_t turns) {
  auto how = co_await skua::select(to.send(message), few_turns(turns));
  co_return how.index() == 0 && how.get<0>()->has_value();
}

task<> reserve_and_send(sender& to, books& all, bool uses_it) {
  auto room = co_await to.reserve();
  if (!room || !uses_it) co_return;
  const std::size_t message = all.number();
  if (message == all.sent.size()) co_return;
  ++all.sent[message];
  room.send(message);
}

task<> send_many(sender to, books& all, random_generator random) {
  while (all.more() && !to.is_closed()) {
    const auto how = random.below(8);
    if (how < 2) {
      co_await reserve_and_send(to, all, how == 0);
      continue;
    }
    const std::size_t message = all.number();
    if (message == all.sent.size()) break;
    if (how == 2) {
      if (co_await send_in_a_race(to, message, random.below(3))) ++all.sent[message];
    } else if (how == 3) {
      if (to.try_send(message)) ++all.sent[message];
    } else {
      if (co_await to.send(message)) ++all.sent[message];
    }
  }
}

task<> send_many(unbounded_sender to, books& all, random_generator random) {
  while (all.more() && !to.is_closed()) {
    const std::size_t message = all.number();
    if (message == all.sent.size()) break;
    if (to.send(message)) ++all.sent[message];
    if (random.below(4) == 0) co_await skua::yield();
  }
}

task<bool> receive_in_a_race(receiver& from, books& all, std::uint64_t turns) {
  auto how = co_await skua::select(from.receive(), few_turns(turns));
  if (how.index() == 1) co_return true;
  if (!(*how.get<0>())) co_return false;
  ++all.received[**how.get<0>()];
  co_return true;
}

task<> receive_many(receiver from, books& all, random_generator random) {
  std::vector<std::size_t> several;
  for (;;) {
    const auto how = random.below(6);
    if (how == 0) {
      if (!co_await receive_in_a_race(from, all, random.below(3))) break;
    } else if (how == 1) {
      several.clear();
      if (co_await from.receive_many(several, 1 + random.below(10)) == 0) break;
      for (const std::size_t one : several) ++all.received[one];
    } else if (how == 2) {
      if (auto one = from.try_receive()) ++all.received[*one];
    } else {
      auto one = co_await from.receive();
      if (!one) break;
      ++all.received[*one];
    }
  }
}

/// Some are stopped in the middle of something.
template <typename Sender>
task<> one_round(random_generator random, books& all, std::pair<Sender, receiver> ends) {
  auto [tx, rx] = std::move(ends);
  std::vector<skua::join_handle<void>> running;
  for (std::uint64_t i = 1 + random.below(6); i > 0; --i)
    running.push_back(skua::spawn(send_many(tx, all, random.split())));
  for (std::uint64_t i = random.below(6); i > 0; --i)
    running.push_back(skua::spawn(receive_many(rx, all, random.split())));
  for (std::uint64_t i = random.below(running.size()); i > 0; --i) {
    co_await few_turns(random.below(30));
    running[random.below(running.size())].abort();
  }
  if (random.below(4) == 0) rx.close();
  {
    const auto gone = std::move(tx);
  }
  // The last receiver, whatever became of the others.
  while (auto one = co_await rx.receive()) ++all.received[*one];
  for (auto& one : running) (void)co_await one.outcome();
}

task<> one_round(random_generator random, books& all) {
  constexpr std::array<std::size_t, 5> sizes = {0, 1, 2, 7, 64};
  const std::uint64_t which = random.below(sizes.size() + 2);
  if (which < sizes.size()) return one_round(random, all, mpmc::channel<std::size_t>(sizes[which]));
  return one_round(random, all, mpmc::unbounded_channel<std::size_t>());
}

void many_rounds(std::size_t workers) {
  const std::uint64_t seed = seed_of_this_run();
  std::printf("SKUA_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  random_generator random(seed);
  skua_test::watchdog hang("seed " + std::to_string(seed));
  skua::config with;
  with.workers = workers;
  with.budget = 8;
  skua::runtime rt = skua_test::started(with);
  const skua_test::watchdog::registration watched(hang, rt.get_handle());
  std::size_t rounds = 0;
  std::size_t messages = 0;
  for (const skua_test::budget time(0.5); time.left() && !testing::Test::HasFailure(); ++rounds) {
    books all(1 + random.below(2'000));
    rt.block_on(one_round(random.split(), all));
    for (std::size_t i = 0; i < all.sent.size(); ++i) {
      ASSERT_EQ(all.sent[i], all.received[i]) << "message " << i << " of seed " << seed;
      messages += static_cast<std::size_t>(all.received[i]);
    }
    hang.progress();
  }
  std::printf("%zu workers: %zu messages in %zu rounds\n", workers, messages, rounds);
}

TEST(channel_stress, what_is_sent_is_received_once_on_two_workers) {
  many_rounds(2);
}
TEST(channel_stress, what_is_sent_is_received_once_on_eight_workers) {
  many_rounds(8);
}

/// Threads that belong to no runtime, which drop their handles as they like.
TEST(channel_stress, threads_come_and_go_at_a_channel) {
  const std::uint64_t seed = seed_of_this_run();
  std::printf("SKUA_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  random_generator random(seed);
  skua_test::watchdog hang("seed " + std::to_string(seed));
  for (const skua_test::budget time(0.5); time.left() && !testing::Test::HasFailure();) {
    books all(300);
    {
      auto [tx, rx] = mpmc::channel<std::size_t>(random.below(4));
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([to = tx, &all] {
          for (std::size_t one = 0; (one = all.number()) < all.sent.size();)
            if (to.blocking_send(one)) ++all.sent[one];
        });
        threads.emplace_back([from = rx, &all] {
          while (auto one = from.blocking_receive()) ++all.received[*one];
        });
      }
      {
        const auto gone = std::move(tx);
      }
      {
        const auto gone = std::move(rx);
      }
      for (std::thread& one : threads) one.join();
    }
    for (std::size_t i = 0; i < all.sent.size(); ++i)
      ASSERT_EQ(all.sent[i], all.received[i]) << "message " << i << " of seed " << seed;
    hang.progress();
  }
}

}  // namespace
