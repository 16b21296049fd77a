// tests/driver/uring/uring_driver_test.cpp: each operation ends once; a wake is never lost.
#include "driver/uring/uring_driver.hpp"

#include "support/driven_uring.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <vector>

namespace {

using skua_test::feed;
using skua_test::millisecond;
using skua_test::noted_operation;
using skua_test::noted_timer;
using skua_test::park_until;
using skua_test::parked;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::to_read;

class uring : public skua_test::every_uring {};
INSTANTIATE_TEST_SUITE_P(rings, uring, skua_test::every_ring_use(), skua_test::name_of_use);

/// Driven by another thread.
class uring_elsewhere : public skua_test::every_uring {
protected:
  uring_elsewhere() : every_uring(false) {}
};
INSTANTIATE_TEST_SUITE_P(rings, uring_elsewhere, skua_test::every_ring_use(),
                         skua_test::name_of_use);

TEST_P(uring, ends_an_operation_once_and_never_inside_submit) {
  noted_operation op;
  driver->submit(op);
  EXPECT_EQ(op.ends(), 0);
  driver->park(skua::driver::no_limit);
  EXPECT_EQ(op.ends(), 1);
  EXPECT_EQ(op.result, 0);
  settle();
  EXPECT_EQ(op.ends(), 1);
}

TEST_P(uring, gives_what_the_kernel_said) {
  noted_operation bad(to_read(-1, {}));
  driver->submit(bad);
  await(bad);
  EXPECT_EQ(bad.result, -EBADF);

  pipe_pair pipe;
  room<4> into;
  noted_operation read(to_read(pipe.out(), into.span()));
  feed(pipe);
  driver->submit(read);
  await(read);
  EXPECT_EQ(read.result, 1);
  EXPECT_EQ(into.span()[0], std::byte{'x'});
}

TEST_P(uring, glances_at_what_has_ended_without_a_call) {
  noted_operation op;
  EXPECT_FALSE(driver->glance(skua::driver::no_limit));
  driver->submit(op);
  EXPECT_FALSE(driver->glance(skua::driver::no_limit)) << "the kernel does not know of it yet";
  driver->poll();
  EXPECT_EQ(op.ends(), 1);
  EXPECT_FALSE(driver->glance(skua::driver::no_limit)) << "handed over once";
}

TEST_P(uring, hands_over_no_more_than_there_is_room_for) {
  std::deque<noted_operation> all(8);
  for (noted_operation& one : all) driver->submit(one);
  const auto ends = [&] {
    return std::ranges::count_if(all, [](const noted_operation& one) { return one.ended(); });
  };
  driver->look(3);
  EXPECT_EQ(ends(), 3);
  EXPECT_TRUE(driver->glance(2));
  EXPECT_EQ(ends(), 5);
  driver->park(1);  // which does not sleep over what is there
  EXPECT_EQ(ends(), 6);
  driver->poll();
  EXPECT_EQ(ends(), 8);
}

// The clock of the kernel decides: a look soon after a call makes none, unless the thread was held
// up in between.
TEST_P(uring, of_a_busy_owner_calls_the_kernel_once_in_a_while) {
  constexpr std::int64_t a_while = 200'000;
  const skua::monotonic_clock real;
  for (int tries = 0;; ++tries) {
    ASSERT_LT(tries, 1'000);
    noted_operation op;
    const std::int64_t begin = real.now();
    driver->poll();
    driver->submit(op);
    driver->look(skua::driver::no_limit);
    const bool was_quick = real.now() - begin < a_while;
    const bool called = op.ended();
    while (!op.ended()) driver->look(skua::driver::no_limit);
    EXPECT_GE(real.now() - begin, called ? 0 : a_while);
    if (!was_quick) continue;
    EXPECT_FALSE(called);
    break;
  }
}

TEST_P(uring, gives_a_full_ring_to_the_kernel_at_once) {
  std::deque<noted_operation> all(9);
  for (noted_operation& one : all) driver->submit(one);
  EXPECT_EQ(driver->get_ring().unsubmitted(), 1U);
  EXPECT_TRUE(driver->glance(skua::driver::no_limit));
  EXPECT_EQ(std::ranges::count_if(all, [](const noted_operation& one) { return one.ended(); }), 8);
  settle();
  EXPECT_TRUE(all.back().ended());
}

TEST_P(uring, takes_more_operations_than_the_ring_has_entries) {
  std::deque<noted_operation> all(1'000);
  for (noted_operation& one : all) driver->submit(one);
  const auto over = [&] {
    for (const noted_operation& one : all)
      if (!one.ended()) return false;
    return true;
  };
  park_until(*driver, over);
  settle();
  for (const noted_operation& one : all) EXPECT_EQ(one.ends(), 1);
}

// All complete before anybody looks: the kernel keeps what the queue of 16 has no room for.
TEST_P(uring, loses_no_completion_when_the_queue_overflows) {
  pipe_pair pipe;
  constexpr std::size_t count = 1'000;
  std::array<std::byte, count> into{};
  std::deque<noted_operation> all;
  for (std::size_t i = 0; i < count; ++i)
    driver->submit(all.emplace_back(to_read(pipe.out(), std::span(into).subspan(i, 1))));
  for (int i = 0; i < 300; ++i) driver->poll();  // until the kernel has them all
  for (const noted_operation& one : all) {
    ASSERT_EQ(one.ends(), 0);
    ASSERT_EQ(one.at, skua::operation::place::in_kernel);
  }
  const std::vector<char> bytes(count, 'y');
  ASSERT_EQ(::write(pipe.in(), bytes.data(), count), static_cast<ssize_t>(count));
  const auto over = [&] {
    for (const noted_operation& one : all)
      if (!one.ended()) return false;
    return true;
  };
  park_until(*driver, over);
  settle();
  for (const noted_operation& one : all) {
    EXPECT_EQ(one.ends(), 1);
    EXPECT_EQ(one.result, 1);
  }
  for (const std::byte one : into) EXPECT_EQ(one, std::byte{'y'});
}

TEST_P(uring, does_not_sleep_after_a_wake_that_came_before) {
  EXPECT_FALSE(driver->wake()) << "nobody slept";
  EXPECT_FALSE(driver->wake());
  driver->park(skua::driver::no_limit);
  sleep_once();  // and once only: this one slept
}

TEST_P(uring_elsewhere, is_woken_by_other_threads_again_and_again) {
  parked owner(*driver);
  for (int i = 0; i < 200; ++i) {
    owner.await_sleep();
    const int before = owner.returns();
    EXPECT_TRUE(driver->wake());
    while (owner.returns() == before) std::this_thread::yield();
  }
}

TEST_P(uring_elsewhere, is_woken_by_an_operation_of_another_thread) {
  parked owner(*driver);
  for (int i = 0; i < 50; ++i) {
    owner.await_sleep();
    noted_operation op;
    driver->submit(op);
    while (!op.ended()) std::this_thread::yield();
    EXPECT_EQ(op.result, 0);
  }
}

TEST_P(uring_elsewhere, is_woken_by_a_cancel_of_another_thread) {
  pipe_pair pipe;
  room<1> into;
  parked owner(*driver);
  for (int i = 0; i < 50; ++i) {
    noted_operation op(to_read(pipe.out(), into.span()));
    driver->submit(op);
    owner.await_sleep();
    driver->cancel(op);
    while (!op.ended()) std::this_thread::yield();
    EXPECT_EQ(op.result, -ECANCELED);
  }
}

TEST_P(uring_elsewhere, is_woken_by_an_earlier_timer_of_another_thread) {
  noted_timer far(clock, clock.now() + 3'600'000 * millisecond);
  driver->add(far);
  {
    parked owner(*driver);
    for (int i = 0; i < 50; ++i) {
      noted_timer near(clock, clock.now() + millisecond / 10);
      driver->add(near);
      while (near.fired() == 0) std::this_thread::yield();
    }
  }
  EXPECT_TRUE(driver->remove(far));
  EXPECT_EQ(far.fired(), 0);
}

}  // namespace
