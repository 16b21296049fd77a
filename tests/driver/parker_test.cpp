// tests/driver/parker_test.cpp: one token, deadlines, and sleeps that end for no reason.
#include "driver/parker.hpp"

#include "driver/futex.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/random.hpp"
#include "support/budget.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace {

using parker = skua::parker<skua::std_atomics, skua::process_futex>;

constexpr std::int64_t millisecond = 1'000'000;

std::int64_t now() {
  return skua::monotonic_clock().now();
}

std::int64_t soon(skua::random_generator& when) {
  return now() + static_cast<std::int64_t>(when.below(200'000));
}

/// Returns for no reason as often as told, and then says that the deadline has passed.
struct fickle_futex {
  static inline int spurious = 0;
  static inline int waits = 0;
  static inline int wakes = 0;
  static inline std::int64_t deadline = 0;

  static bool wait(std::atomic<std::uint32_t>&, std::uint32_t, std::int64_t until) {
    ++waits;
    deadline = until;
    return spurious-- > 0;
  }
  static void wake_one(std::atomic<std::uint32_t>&) { ++wakes; }
};

/// Somebody wakes just when the owner falls asleep.
struct interrupted_futex {
  static inline skua::parker<skua::std_atomics, interrupted_futex>* whom = nullptr;
  static inline bool times_out = false;
  static inline bool slept = false;

  static bool wait(std::atomic<std::uint32_t>&, std::uint32_t, std::int64_t) {
    slept = whom->wake();
    return !times_out;
  }
  static void wake_one(std::atomic<std::uint32_t>&) {}
};

TEST(parker, a_wake_before_the_sleep_ends_it_at_once) {
  parker mine;
  EXPECT_FALSE(mine.wake()) << "nobody slept";
  EXPECT_TRUE(mine.park(parker::no_deadline));
}

TEST(parker, many_wakes_make_one_token) {
  parker mine;
  EXPECT_FALSE(mine.wake());
  EXPECT_FALSE(mine.wake());
  EXPECT_TRUE(mine.park(parker::no_deadline));
  EXPECT_FALSE(mine.park(now() + millisecond));
}

TEST(parker, a_token_can_be_taken_without_sleeping) {
  parker mine;
  EXPECT_FALSE(mine.try_consume());
  EXPECT_FALSE(mine.wake());
  EXPECT_TRUE(mine.try_consume());
  EXPECT_FALSE(mine.try_consume()) << "taken once";
  EXPECT_FALSE(mine.park(now() + millisecond));
}

TEST(parker, does_not_return_before_the_deadline) {
  parker mine;
  const std::int64_t deadline = now() + 3 * millisecond;
  EXPECT_FALSE(mine.park(deadline));
  EXPECT_GE(now(), deadline);
}

TEST(parker, a_deadline_in_the_past_still_takes_a_token) {
  parker mine;
  EXPECT_FALSE(mine.park(0));
  EXPECT_FALSE(mine.park(-1));
  EXPECT_FALSE(mine.wake()) << "it is awake again";
  EXPECT_TRUE(mine.park(0));
}

TEST(parker, a_sleep_that_ends_for_no_reason_goes_on) {
  skua::parker<skua::std_atomics, fickle_futex> mine;
  fickle_futex::spurious = 3;
  EXPECT_FALSE(mine.park(123));
  EXPECT_EQ(fickle_futex::waits, 4);
  EXPECT_EQ(fickle_futex::deadline, 123);
  EXPECT_FALSE(mine.wake());
  EXPECT_EQ(fickle_futex::wakes, 0);
}

TEST(parker, whoever_wakes_a_sleeper_is_told) {
  skua::parker<skua::std_atomics, interrupted_futex> mine;
  interrupted_futex::whom = &mine;
  EXPECT_TRUE(mine.park(1));
  EXPECT_TRUE(interrupted_futex::slept);
}

TEST(parker, a_token_that_comes_with_the_deadline_is_consumed) {
  skua::parker<skua::std_atomics, interrupted_futex> mine;
  interrupted_futex::whom = &mine;
  interrupted_futex::times_out = true;
  EXPECT_TRUE(mine.park(1));
  EXPECT_FALSE(mine.try_consume());
  interrupted_futex::times_out = false;
}

/// Another thread parks while the owner sleeps.
struct shared_futex {
  static inline skua::parker<skua::std_atomics, shared_futex>* whom = nullptr;

  static bool wait(std::atomic<std::uint32_t>&, std::uint32_t, std::int64_t) {
    return whom->park(1);
  }
  static void wake_one(std::atomic<std::uint32_t>&) {}
};

TEST(parker, a_second_owner_is_an_error) {
  skua::parker<skua::std_atomics, shared_futex> mine;
  shared_futex::whom = &mine;
  EXPECT_DEATH(mine.park(1), "only its owner parks");
}

TEST(parker, two_threads_that_wake_each_other_never_stay_asleep) {
  parker left;
  parker right;
  constexpr int rounds = 2'000;
  std::int64_t turns = 0;  // ordered by the tokens alone
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      while (!right.park(parker::no_deadline)) {
      }
      ++turns;
      left.wake();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    ++turns;
    right.wake();
    while (!left.park(parker::no_deadline)) {
    }
  }
  other.join();
  EXPECT_EQ(turns, 2 * rounds);
}

/// The owner's deadline passes just when the waker comes, more or less: one token for each wake.
TEST(parker, wakes_and_deadlines_at_once_lose_no_token) {
  const skua_test::budget time(0.5);
  parker owner;
  parker waker;
  int asked = 0;  // ordered by the tokens alone
  bool over = false;
  std::thread sleeper([&] {
    skua::random_generator patience(1);
    bool last = false;
    for (int round = 1; !last; ++round) {
      while (!owner.park(soon(patience))) {
      }
      EXPECT_EQ(asked, round);
      last = over;
      waker.wake();
    }
  });
  skua::random_generator delay(2);
  while (!over) {
    for (const std::int64_t until = soon(delay); now() < until;) {
    }
    over = !time.left();
    ++asked;
    owner.wake();
    EXPECT_TRUE(waker.park(parker::no_deadline));
  }
  sleeper.join();
}

}  // namespace
