// tests/sync/stream_stress_test.cpp: merged and buffered streams on many workers, and stopped.
#include "skua/base/random.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/started.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace mpsc = skua::mpsc;
namespace stream = skua::stream;
using skua::async_generator;
using skua::random_generator;
using skua::task;

/// SKUA_TEST_SEED, or another one each time.
std::uint64_t seed_of_this_run() {
  const char* const set = std::getenv("SKUA_TEST_SEED");
  if (set != nullptr && *set != '\0') return std::strtoull(set, nullptr, 10);
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// One of those that must all be gone at the end of a round.
class token {
public:
  token(std::atomic<int>& alive, int number) noexcept : alive_(&alive), number_(number) {
    ++*alive_;
  }
  token(token&& from) noexcept : alive_(from.alive_), number_(from.number_) { ++*alive_; }
  token& operator=(token&&) = delete;
  ~token() { --*alive_; }
  [[nodiscard]] int number() const noexcept { return number_; }

private:
  std::atomic<int>* alive_;
  int number_;
};

task<> few_turns(std::uint64_t count) {
  for (; count > 0; --count) co_await skua::yield();
}

task<> send_some(mpsc::sender<token> to, std::atomic<int>& alive, int count,
                 random_generator random) {
  for (int i = 0; i < count; ++i) {
    co_await few_turns(random.below(3));
    const auto sent = co_await to.send(token(alive, i));
    if (!sent) co_return;
  }
}

/// In the order in which they were sent; borrows nothing that ends before the round.
async_generator<token> received(mpsc::receiver<token> from, std::atomic<int>& alive) {
  const token here(alive, 0);
  while (auto one = co_await from.receive()) co_yield std::move(*one);
}

async_generator<token> counted(int count, std::atomic<int>& alive, random_generator random) {
  const token here(alive, 0);
  for (int i = 0; i < count; ++i) {
    co_await few_turns(random.below(3));
    co_yield token(alive, i);
  }
}

/// The senders run on any worker, the sources in this task. Gives how many came.
task<std::size_t> merge_round(random_generator random, std::atomic<int>& alive, int count) {
  std::vector<async_generator<token>> sources;
  std::vector<skua::join_handle<void>> senders;
  for (std::uint64_t i = 1 + random.below(5); i > 0; --i) {
    auto ends = mpsc::channel<token>(random.below(3));
    senders.push_back(skua::spawn(send_some(std::move(ends.first), alive, count, random.split())));
    sources.push_back(received(std::move(ends.second), alive));
  }
  sources.push_back(counted(count, alive, random.split()));
  const std::size_t expected = sources.size() * static_cast<std::size_t>(count);
  const std::size_t wanted = random.below(3) == 0 ? random.below(expected) : expected;
  auto all = co_await stream::collect(stream::merge(std::move(sources)) | stream::take(wanted));
  EXPECT_EQ(all.size(), wanted);
  for (auto& one : senders) (void)co_await one.outcome();
  co_return wanted;
}

task<token> elsewhere(token what, std::uint64_t turns) {
  co_await few_turns(turns);
  co_return std::move(what);
}

task<std::size_t> buffer_round(random_generator random, std::atomic<int>& alive, int count) {
  const bool in_order = random.below(2) == 0;
  const std::size_t at_once = 1 + random.below(9);
  auto begin = [&random](token one) {
    return skua::spawn(elsewhere(std::move(one), random.below(6)));
  };
  int next = 0;
  auto note = [&next, in_order](const token& one) {
    if (in_order) {
      EXPECT_EQ(one.number(), next);
    }
    ++next;
  };
  auto several = in_order ? stream::buffered(at_once) : stream::buffered_unordered(at_once);
  auto source = counted(count, alive, random.split()) | stream::unawaited(begin);
  co_await stream::for_each(std::move(source) | several, note);
  EXPECT_EQ(next, count);
  co_return static_cast<std::size_t>(next);
}

/// Half of them are stopped in the middle of something.
template <typename Round>
task<std::size_t> run_or_stop(Round round, random_generator random, std::atomic<int>& alive) {
  const int count = 1 + static_cast<int>(random.below(60));
  auto running = skua::spawn(round(random.split(), alive, count));
  if (random.below(2) == 0) {
    co_await few_turns(random.below(100));
    running.abort();
  }
  auto how = co_await running.outcome();
  co_return how.has_value() ? std::move(how).value() : 0;
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
  std::size_t values = 0;
  for (const skua_test::budget time(0.5); time.left() && !testing::Test::HasFailure(); ++rounds) {
    std::atomic<int> alive = 0;
    values += rt.block_on(run_or_stop(merge_round, random.split(), alive));
    values += rt.block_on(run_or_stop(buffer_round, random.split(), alive));
    ASSERT_EQ(alive, 0) << "values or sources left over, seed " << seed;
    hang.progress();
  }
  std::printf("%zu workers: %zu values in %zu rounds\n", workers, values, rounds);
}

TEST(stream_stress, nothing_is_lost_or_left_over_on_two_workers) {
  many_rounds(2);
}
TEST(stream_stress, nothing_is_lost_or_left_over_on_eight_workers) {
  many_rounds(8);
}

}  // namespace
