// tests/fiber/stress_test.cpp: very many fibers at once, very many switches, stops at any moment.
#include "skua/base/random.hpp"
#include "skua/base/sanitizer.hpp"
#include "skua/fiber.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::task;
using skua_test::shared_gate;
namespace fiber = skua::fiber;

constexpr bool sanitized = skua::built_with_asan || skua::built_with_tsan;

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

class many : public testing::TestWithParam<skua_test::kind> {};
INSTANTIATE_TEST_SUITE_P(on, many,
                         testing::Values(skua_test::alone, skua_test::two_workers,
                                         skua_test::four_workers),
                         skua_test::name_of_kind);

// Linux before 6.13 has no guards for so many.
std::size_t how_many_at_once() {
  if (sanitized) return 2'000;
  fiber::stack_pool pool;
  pool.give_back(pool.take(fiber::options::least_stack));
  return pool.look().guarded_by_mapping == 0 ? 100'000 : 10'000;
}

TEST_P(many, fibers_live_at_once_on_small_stacks) {
  fiber::stack_pool pool;
  auto body = [](fiber::stack_pool& from, std::size_t count) -> task<> {
    shared_gate gate;
    const auto small = fiber::options().stack_size(fiber::options::least_stack).pool(from);
    auto waits = [](shared_gate& at, std::size_t own) {
      const std::uint64_t given = fiber::await(shared_gate::wait(at));
      return own * given;
    };
    const std::size_t before = resident_bytes();
    std::vector<skua::join_handle<std::size_t>> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(fiber::spawn(small, waits, std::ref(gate), i));
    while (gate.waiters() < count) co_await skua::yield();
    const auto now = from.look();
    EXPECT_EQ(now.live, count);
    std::printf("%zu fibers: %zu bytes of memory each, %zu stacks guarded by mappings\n", count,
                (resident_bytes() - before) / count, now.guarded_by_mapping);
    gate.open(3);
    std::size_t sum = 0;
    for (auto& each : all) sum += co_await std::move(each);
    EXPECT_EQ(sum, 3 * (count * (count - 1) / 2));
  };
  skua_test::started(GetParam().settings()).block_on(body(pool, how_many_at_once()));
  EXPECT_EQ(pool.look().live, 0U);
  EXPECT_LE(pool.look().kept_bytes, std::size_t{32} * 1024 * 1024);
}

task<std::size_t> plus_one(std::size_t n) {
  co_await skua::yield();
  co_return n + 1;
}

// The coroutine's frame is taken from lists of the thread, which is another one after an await:
// what the compiler knows of the one must not be used for the other.
TEST_P(many, switches_leave_every_stack_as_it_was) {
  static constexpr std::size_t fibers = 50;
  static constexpr std::size_t rounds = 10'000;  // of two switches there and back: a million in all
  auto body = []() -> task<> {
    std::vector<skua::join_handle<std::size_t>> all;
    auto one = [](std::size_t own) {
      double real = static_cast<double>(own);
      std::size_t sum = 0;
      std::set<std::thread::id> seen;
      for (std::size_t i = 0; i < rounds; ++i) {
        sum += fiber::await(plus_one(i)) - i;
        fiber::await(skua::yield());
        real += 0.5;
        if (i % 64 == 0) seen.insert(std::this_thread::get_id());
      }
      EXPECT_EQ(real, static_cast<double>(own) + 0.5 * static_cast<double>(rounds));
      EXPECT_EQ(sum, rounds);
      return seen.size();
    };
    for (std::size_t i = 0; i < fibers; ++i) all.push_back(fiber::spawn(one, i));
    std::size_t most = 0;
    for (auto& each : all) most = std::max(most, co_await std::move(each));
    std::printf("a fiber was seen on %zu threads\n", most);
  };
  skua_test::started(GetParam().settings()).block_on(body());
}

/// Counts those that live.
class counted {
public:
  explicit counted(std::atomic<int>& all) : all_(all) { ++all_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --all_; }

private:
  std::atomic<int>& all_;
};

TEST_P(many, stops_at_any_moment_unwind_every_stack) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(seed);
  skua::random_generator dice(seed);
  const skua_test::budget time(0.5);
  fiber::stack_pool pool;
  auto rt = skua_test::started(GetParam().settings());
  std::atomic<int> live = 0;
  auto nested = [](std::atomic<int>& all, int depth, auto& self) -> void {
    const counted here(all);
    fiber::await(skua::yield());
    if (depth == 0) {
      fiber::await(plus_one(1));
      return;
    }
    try {
      self(all, depth - 1, self);
    } catch (...) {
      const std::size_t two = fiber::await_shielded(plus_one(1));
      EXPECT_EQ(two, 2U);
      throw;
    }
  };
  auto one = [nested](std::atomic<int>& all) {
    for (int i = 0; i < 20; ++i) nested(all, 3, nested);
  };
  auto round = [](auto what, fiber::stack_pool& from, std::atomic<int>& all,
                  skua::random_generator& random) -> task<> {
    const auto small = fiber::options().stack_size(32'768).pool(from);
    std::vector<skua::join_handle<void>> handles;
    for (int i = 0; i < 30; ++i) handles.push_back(fiber::spawn(small, what, std::ref(all)));
    for (std::uint64_t turns = random.below(200); turns > 0; --turns) co_await skua::yield();
    for (auto& each : handles)
      if (random.below(3) != 0) each.abort();
    for (auto& each : handles) {
      const auto end = co_await each.outcome();
      EXPECT_FALSE(end.has_exception());
    }
  };
  while (time.left()) rt.block_on(round(one, pool, live, dice));
  EXPECT_EQ(live, 0);
  EXPECT_EQ(pool.look().live, 0U);
}

}  // namespace
