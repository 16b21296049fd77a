// tests/base/short_lock_test.cpp: one thread at a time, and none sleeps for ever.
#include "skua/base/short_lock.hpp"

#include "support/budget.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace {

using skua::short_hold;
using skua::short_lock;

TEST(short_lock, is_four_bytes_and_held_by_one_at_a_time) {
  static_assert(sizeof(short_lock) == 4);
  short_lock lock;
  {
    const short_hold hold(lock);
    EXPECT_FALSE(lock.try_lock());
  }
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

// A variable without atomics: TSan and the sum tell if two were inside at once.
TEST(short_lock, many_threads_lose_nothing) {
  const skua_test::budget time(0.5);
  while (time.left()) {
    constexpr int threads = 4;
    constexpr int rounds = 2'000;
    short_lock lock;
    long sum = 0;
    std::vector<std::thread> all;
    all.reserve(threads);
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        for (int i = 0; i < rounds; ++i) {
          const short_hold hold(lock);
          ++sum;
          if (t == 0 && i % 64 == 0) std::this_thread::yield();  // so that others have to sleep
        }
      });
    }
    for (auto& one : all) one.join();
    ASSERT_EQ(sum, threads * rounds);
  }
}

// Who gets it last may free it: the one before may still be on its way out of unlock().
TEST(short_lock, the_last_to_hold_it_may_free_it) {
  struct shared {
    short_lock lock;
    int left = 2;
  };
  const skua_test::budget time(0.5);
  while (time.left()) {
    auto* const both = new shared;
    auto leave = [both] {
      bool last = false;
      {
        const short_hold hold(both->lock);
        last = --both->left == 0;
      }
      if (last) delete both;
    };
    std::thread other(leave);
    leave();
    other.join();
  }
}

}  // namespace
