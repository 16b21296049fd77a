// tests/driver/process_barrier_test.cpp: store buffering is excluded with a fence on one side only.
#include "driver/process_barrier.hpp"

#include "skua/base/cache_line.hpp"
#include "support/budget.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using skua::process_barrier;

TEST(process_barrier, can_be_asked_for_by_all_threads_at_once) {
  std::atomic<int> yes = 0;
  auto ask = [&] { yes.fetch_add(process_barrier::available() ? 1 : 0); };
  std::thread first(ask);
  std::thread second(ask);
  first.join();
  second.join();
  EXPECT_EQ(yes.load(), process_barrier::available() ? 2 : 0);
}

TEST(process_barrier, works_whether_or_not_the_kernel_helps) {
  process_barrier::heavy();
  process_barrier::light();
}

/// Two threads that announce themselves by counting up, and then look at the other's count, as fast
/// as they can. If the heavy side at its count m saw the light side's count n, then the light side
/// at n + 1 looked later than that, and saw m.
struct duel {
  static constexpr std::uint32_t rounds = 200'000;

  alignas(skua::interference_distance) std::atomic<std::uint32_t> light = 0;
  alignas(skua::interference_distance) std::atomic<std::uint32_t> heavy = 0;
  alignas(skua::interference_distance) std::vector<std::uint32_t> seen_by_light;
  std::vector<std::uint32_t> seen_by_heavy;

  duel() : seen_by_light(rounds + 1) {}

  void run() {
    std::thread light_side([this] {
      for (std::uint32_t n = 1; n <= rounds; ++n) {
        light.store(n, std::memory_order_relaxed);
        process_barrier::light();
        seen_by_light[n] = heavy.load(std::memory_order_relaxed);
      }
    });
    for (std::uint32_t m = 1, n = 0; n < rounds; ++m) {
      heavy.store(m, std::memory_order_relaxed);
      process_barrier::heavy();
      n = light.load(std::memory_order_relaxed);
      seen_by_heavy.push_back(n);
    }
    light_side.join();
  }

  [[nodiscard]] std::uint32_t missed() const {
    std::uint32_t count = 0;
    for (std::uint32_t m = 1; m <= seen_by_heavy.size(); ++m) {
      const std::uint32_t n = seen_by_heavy[m - 1] + 1;
      if (n <= rounds && seen_by_light[n] < m) ++count;
    }
    return count;
  }
};

TEST(process_barrier, one_of_two_sees_the_other) {
  std::printf("by %s\n", process_barrier::available() ? "the kernel" : "fences");
  skua_test::budget time(0.5);
  std::size_t looks = 0;
  do {
    duel one;
    one.run();
    looks += one.seen_by_heavy.size();
    ASSERT_EQ(one.missed(), 0U);
  } while (time.left());
  std::printf("%zu heavy barriers\n", looks);
}

}  // namespace
