// tests/time/accuracy_test.cpp: many sleeps at once: none too short, few much too long.
#include "skua/base/random.hpp"
#include "skua/base/sanitizer.hpp"
#include "skua/skua.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::spawn;
using skua::task;
using skua_test::started;
using nanoseconds = std::chrono::nanoseconds;

constexpr bool slow_build = skua::built_with_asan || skua::built_with_tsan;

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t quantile(std::vector<std::int64_t>& of, double part) {
  std::ranges::sort(of);
  return of[static_cast<std::size_t>(part * static_cast<double>(of.size() - 1))];
}

task<> sleeps(nanoseconds length, std::int64_t& late) {
  const std::int64_t due = now() + length.count();
  co_await skua::sleep(length);
  late = now() - due;
}

task<> sleep_at_random(std::vector<std::int64_t>& late) {
  skua::random_generator random(7);
  for (std::size_t i = 0; i < late.size(); ++i) {
    spawn(sleeps(nanoseconds(random.below(2'000'000'000)), late[i]));
    if (i % 50 == 0) co_await skua::yield();  // the first to end are among the first to begin
  }
}

/// What the kernel does for a thread that has nothing else to do.
void sleep_bare(const std::atomic<bool>& over, std::vector<std::int64_t>& late) {
  skua::random_generator random(8);
  while (!over.load()) {
    const std::int64_t due = now() + static_cast<std::int64_t>(random.below(5'000'000));
    const timespec at{.tv_sec = due / 1'000'000'000, .tv_nsec = due % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    late.push_back(now() - due);
  }
}

class sleeps_at_once : public testing::TestWithParam<skua_test::kind> {};
INSTANTIATE_TEST_SUITE_P(every, sleeps_at_once, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(sleeps_at_once, are_never_early_and_seldom_late) {
  std::vector<std::int64_t> late(slow_build ? 10'000 : 100'000, -1);
  std::vector<std::int64_t> bare;
  std::atomic<bool> over{false};
  std::thread other(sleep_bare, std::cref(over), std::ref(bare));
  {
    auto rt = started(GetParam().settings());
    rt.block_on(sleep_at_random(late));
  }
  over.store(true);
  other.join();
  const std::int64_t ours = quantile(late, 0.99);
  const std::int64_t theirs = quantile(bare, 0.99);
  std::printf("p50 %.3f, p99 %.3f, longest %.3f ms; a bare thread: p99 %.3f ms\n",
              static_cast<double>(quantile(late, 0.5)) / 1e6, static_cast<double>(ours) / 1e6,
              static_cast<double>(late.back()) / 1e6, static_cast<double>(theirs) / 1e6);
  EXPECT_GE(late.front(), 0) << "too early";
  EXPECT_LE(ours, (slow_build ? 20'000'000 : 2'000'000) + theirs);
}

TEST(sleeps, a_million_of_them_end) {
  constexpr std::size_t count = slow_build ? 50'000 : 1'000'000;
  std::vector<std::int64_t> late(count, -1);
  skua::config settings;
  settings.workers = 2;
  auto rt = started(settings);
  auto body = [](std::vector<std::int64_t>& each) -> task<> {
    const auto all_begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < each.size(); ++i) {
      spawn(sleeps(3s, each[i]));
      if (i % 50 == 0) co_await skua::yield();
    }
    const auto took = std::chrono::steady_clock::now() - all_begin;
    std::printf("begun in %.2f s\n", std::chrono::duration<double>(took).count());
  };
  rt.block_on(body(late));
  EXPECT_TRUE(std::ranges::all_of(late, [](std::int64_t one) { return one >= 0; }));
}

}  // namespace
