// tests/driver/futex_test.cpp: the kernel's sleep: value, deadline, wake.
#include "driver/futex.hpp"

#include "skua/base/clock.hpp"

#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <thread>

namespace {

using skua::process_futex;

constexpr std::int64_t millisecond = 1'000'000;

std::int64_t now() {
  return skua::monotonic_clock().now();
}

TEST(futex, does_not_sleep_on_another_value) {
  std::atomic<std::uint32_t> word = 1;
  EXPECT_TRUE(process_futex::wait(word, 0, process_futex::no_deadline));
  EXPECT_TRUE(process_futex::wait(word, 0, now() + millisecond));
}

TEST(futex, the_deadline_is_a_point_in_time_and_is_kept) {
  std::atomic<std::uint32_t> word = 0;
  const std::int64_t deadline = now() + 3 * millisecond;
  bool more = true;
  while (more) more = process_futex::wait(word, 0, deadline);
  EXPECT_GE(now(), deadline);
  EXPECT_LT(now(), deadline + 10'000 * millisecond) << "not a duration";
}

TEST(futex, a_deadline_in_the_past_has_passed) {
  std::atomic<std::uint32_t> word = 0;
  for (const std::int64_t past :
       {std::int64_t{-1}, std::int64_t{-5'000'000'000}, std::int64_t{0}, std::int64_t{1}, now()})
    EXPECT_FALSE(process_futex::wait(word, 0, past)) << past;
}

TEST(futex, a_wake_without_a_sleeper_is_harmless) {
  std::atomic<std::uint32_t> word = 0;
  process_futex::wake_one(word);
  EXPECT_FALSE(process_futex::wait(word, 0, now() + millisecond)) << "nothing is remembered";
}

/// The word does not change, so that only what `nudge` does can end the sleep.
template <typename Nudge>
void expect_to_end_the_sleep(Nudge nudge) {
  std::atomic<std::uint32_t> word = 0;
  std::atomic<bool> returned = false;
  std::thread sleeper([&] {
    EXPECT_TRUE(process_futex::wait(word, 0, process_futex::no_deadline));
    returned.store(true);
  });
  while (!returned.load()) {
    nudge(word, sleeper.native_handle());
    std::this_thread::yield();
  }
  sleeper.join();
}

TEST(futex, a_wake_ends_the_sleep) {
  expect_to_end_the_sleep(
      [](std::atomic<std::uint32_t>& word, pthread_t) { process_futex::wake_one(word); });
}

TEST(futex, sleepers_hand_the_wake_on) {
  std::atomic<std::uint32_t> word = 0;
  std::atomic<int> awake = 0;
  auto sleep = [&] {
    while (word.load() == 0) EXPECT_TRUE(process_futex::wait(word, 0, process_futex::no_deadline));
    awake.fetch_add(1);
    process_futex::wake_one(word);  // hands it on
  };
  std::thread first(sleep);
  std::thread second(sleep);
  word.store(1);
  process_futex::wake_one(word);
  first.join();
  second.join();
  EXPECT_EQ(awake.load(), 2);
}

TEST(futex, a_signal_ends_the_sleep_as_if_woken) {
  struct sigaction nothing = {};
  struct sigaction old = {};
  nothing.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &nothing, &old), 0);
  expect_to_end_the_sleep(
      [](std::atomic<std::uint32_t>&, pthread_t sleeper) { pthread_kill(sleeper, SIGUSR1); });
  ASSERT_EQ(sigaction(SIGUSR1, &old, nullptr), 0);
}

}  // namespace
