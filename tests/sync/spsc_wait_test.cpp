// tests/sync/spsc_wait_test.cpp: ends that give up, come back, are stopped and go, on many threads.
#include "skua/sync/spsc_wait.hpp"

#include "skua/base/random.hpp"
#include "skua/coro/race.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "skua/sync/spsc.hpp"
#include "support/budget.hpp"
#include "support/ledger.hpp"
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
#include <utility>
#include <vector>

namespace {

namespace spsc = skua::spsc;
using skua::random_generator;
using skua::task;
using skua_test::entry;
using skua_test::ledger;

/// SKUA_TEST_SEED, or another one each time.
std::uint64_t seed_of_this_run() {
  const char* const set = std::getenv("SKUA_TEST_SEED");
  if (set != nullptr && *set != '\0') return std::strtoull(set, nullptr, 10);
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

task<> few_turns(std::uint64_t count) {
  for (; count > 0; --count) co_await skua::yield();
}

struct message {
  message(int count, ledger& book) noexcept : number(count), counted(book) {}
  int number;
  entry counted;
};

struct tally {
  ledger book;
  std::atomic<int> made = 0;
  std::atomic<long> received = 0;

  message next(int number) {
    ++made;
    return message(number, book);
  }
};

/// Sends numbers without a gap, each until it was sent.
task<> send_numbers(spsc::sender<message> to, tally& all, random_generator random) {
  const int count = static_cast<int>(random.below(300));
  for (int i = 0; i < count;) {
    if (random.below(2) == 0) {
      auto result = co_await to.send(all.next(i));
      if (!result) co_return;
      ++i;
    } else {
      auto how = co_await skua::select(to.send(all.next(i)), few_turns(random.below(3)));
      if (how.index() == 1) continue;
      if (!*how.get<0>()) co_return;
      ++i;
    }
  }
}

task<> receive_numbers(spsc::receiver<message> from, tally& all, random_generator random) {
  const int enough = random.below(2) == 0 ? 1'000 : static_cast<int>(random.below(300));
  for (int expected = 0; expected < enough;) {
    int number = -1;
    if (random.below(2) == 0) {
      if (auto got = from.try_receive()) {
        number = got->number;
      } else {
        if (from.is_over()) co_return;
        co_await skua::yield();
        continue;
      }
    } else {
      auto how = co_await skua::select(from.receive(), few_turns(random.below(3)));
      if (how.index() == 1) continue;
      if (!*how.get<0>()) co_return;
      number = (*how.get<0>())->number;
    }
    EXPECT_EQ(number, expected++);
    ++all.received;
  }
}

task<> one_round(random_generator random, tally& all) {
  constexpr std::array<std::size_t, 4> sizes = {1, 2, 7, 64};
  std::vector<skua::join_handle<void>> running;
  for (int i = 0; i < 6; ++i) {
    auto [tx, rx] = spsc::channel<message>(sizes[random.below(sizes.size())]);
    running.push_back(skua::spawn(send_numbers(std::move(tx), all, random.split())));
    running.push_back(skua::spawn(receive_numbers(std::move(rx), all, random.split())));
  }
  for (int i = 0; i < 3; ++i) {
    co_await few_turns(random.below(30));
    running[random.below(running.size())].abort();
  }
  for (auto& one : running) (void)co_await one.outcome();
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
  tally all;
  for (const skua_test::budget time(0.5); time.left() && !testing::Test::HasFailure();) {
    rt.block_on(one_round(random.split(), all));
    EXPECT_TRUE(all.book.balanced(all.made)) << "seed " << seed;
    hang.progress();
  }
  std::printf("%zu workers: %ld received\n", workers, all.received.load());
  EXPECT_GT(all.received, 0);
}

TEST(spsc_stress, ends_come_and_go_on_two_workers) {
  many_rounds(2);
}
TEST(spsc_stress, ends_come_and_go_on_eight_workers) {
  many_rounds(8);
}

}  // namespace
