// tests/sync/news_core_test.cpp: ends that come and go in any order, on any threads.
#include "skua/sync/news_core.hpp"

#include "skua/base/random.hpp"
#include "skua/coro/race.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "skua/sync/oneshot.hpp"
#include "support/budget.hpp"
#include "support/ledger.hpp"
#include "support/started.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace oneshot = skua::oneshot;
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

struct tally {
  ledger book;
  std::atomic<int> sent = 0;
  std::atomic<int> received = 0;
  std::atomic<int> refused = 0;
};

/// Sends, waits until nobody wants it, or just goes.
task<> send_or_go(oneshot::sender<entry> to, tally& all, random_generator random) {
  co_await few_turns(random.below(4));
  switch (random.below(4)) {
    case 0:
      co_return;
    case 1:
      co_await skua::select(to.closed(), few_turns(random.below(4)));
      break;
    default:
      break;
  }
  if (to.send(entry(all.book)))
    ++all.sent;
  else
    ++all.refused;
}

task<> receive_or_go(oneshot::receiver<entry> from, tally& all, random_generator random) {
  co_await few_turns(random.below(4));
  if (random.below(4) == 0) co_return;
  for (bool again = random.below(2) == 0; again; again = random.below(2) == 0) {
    auto how = co_await skua::select(from.receive(), few_turns(random.below(4)));
    if (how.index() == 0) {
      if ((*how.get<0>())) ++all.received;
      co_return;
    }
  }
  if (co_await std::move(from)) ++all.received;
}

task<> one_round(random_generator random, tally& all) {
  std::vector<skua::join_handle<void>> running;
  for (int i = 0; i < 20; ++i) {
    auto [tx, rx] = oneshot::channel<entry>();
    running.push_back(skua::spawn(send_or_go(std::move(tx), all, random.split())));
    running.push_back(skua::spawn(receive_or_go(std::move(rx), all, random.split())));
  }
  for (int i = 0; i < 5; ++i) {
    co_await few_turns(random.below(4));
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
  skua::runtime rt = skua_test::started(with);
  const skua_test::watchdog::registration watched(hang, rt.get_handle());
  tally all;
  for (const skua_test::budget time(0.5); time.left() && !testing::Test::HasFailure();) {
    rt.block_on(one_round(random.split(), all));
    EXPECT_TRUE(all.book.balanced(all.sent + all.refused)) << "seed " << seed;
    EXPECT_LE(all.received, all.sent);
    hang.progress();
  }
  std::printf("%zu workers: %d sent, %d received, %d refused\n", workers, all.sent.load(),
              all.received.load(), all.refused.load());
  EXPECT_GT(all.received, 0);
}

TEST(news_stress, ends_of_oneshots_come_and_go_on_two_workers) {
  many_rounds(2);
}
TEST(news_stress, ends_of_oneshots_come_and_go_on_eight_workers) {
  many_rounds(8);
}

}  // namespace
