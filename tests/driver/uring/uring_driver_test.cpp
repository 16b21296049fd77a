// tests/driver/uring/uring_driver_test.cpp: each operation ends once, however it ends.
#include "driver/uring/uring_driver.hpp"

#include "skua/base/clock.hpp"
#include "skua/base/random.hpp"
#include "support/budget.hpp"
#include "support/driver_tools.hpp"
#include "support/pipes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace {

using skua::op_code;
using skua::op_request;
using skua::ring_size;
using skua::uring_driver;
using skua_test::noted_operation;
using skua_test::noted_timer;
using skua_test::park_until;
using skua_test::parked;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::to_poll;
using skua_test::to_read;

constexpr std::int64_t millisecond = 1'000'000;
constexpr ring_size small = {.submissions = 8, .completions = 16};

/// With a driver whose owner is the thread of the test.
class uring : public testing::Test {
protected:
  explicit uring(ring_size size = small) {
    auto made = uring_driver::make(size, clock, pool);
    if (made) driver = std::move(*made);
  }
  void SetUp() override { ASSERT_NE(driver, nullptr) << "there is no io_uring here"; }

  void submit_with_timeout(noted_operation& op, std::int64_t length) {
    op.expiry.deadline = clock.now() + length;
    driver->submit(op);
  }
  void await(const noted_operation& op) {
    park_until(*driver, [&] { return op.ended(); });
    settle();
    EXPECT_EQ(op.ends(), 1);
  }
  /// Whatever is still on its way comes in.
  void settle() {
    for (int i = 0; i < 3; ++i) driver->poll();
  }
  /// So that the kernel watches the waker.
  void sleep_once() {
    noted_timer soon(clock, clock.now() + millisecond);
    driver->add(soon);
    park_until(*driver, [&] { return soon.fired() > 0; });
  }

  const skua::monotonic_clock clock;
  skua_test::fake_pool pool;
  std::unique_ptr<uring_driver> driver;
};

void feed(const pipe_pair& pipe) {
  ASSERT_EQ(::write(pipe.in(), "x", 1), 1);
}

TEST_F(uring, ends_an_operation_once_and_never_inside_submit) {
  noted_operation op;
  driver->submit(op);
  EXPECT_EQ(op.ends(), 0);
  driver->park();
  EXPECT_EQ(op.ends(), 1);
  EXPECT_EQ(op.result, 0);
  settle();
  EXPECT_EQ(op.ends(), 1);
}

TEST_F(uring, gives_what_the_kernel_said) {
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

TEST_F(uring, glances_at_what_has_ended_without_a_call) {
  noted_operation op;
  EXPECT_FALSE(driver->glance());
  driver->submit(op);
  EXPECT_FALSE(driver->glance()) << "the kernel does not know of it yet";
  driver->poll();
  EXPECT_EQ(op.ends(), 1);
  EXPECT_FALSE(driver->glance()) << "handed over once";
}

TEST_F(uring, takes_more_operations_than_the_ring_has_entries) {
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
TEST_F(uring, loses_no_completion_when_the_queue_overflows) {
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

TEST_F(uring, takes_back_what_has_not_reached_the_ring) {
  pipe_pair pipe;
  room<1> into;
  std::deque<noted_operation> all;
  for (int i = 0; i < 20; ++i) driver->submit(all.emplace_back(to_read(pipe.out(), into.span())));
  EXPECT_TRUE(driver->cancel(all.back())) << "it waits in line behind eight";
  EXPECT_FALSE(driver->cancel(all.back())) << "it is nowhere";
  all.back().expiry.deadline = skua::no_deadline;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) driver->cancel(all[i]);
  settle();
  EXPECT_EQ(all.back().ends(), 0);
  EXPECT_EQ(all.front().ends(), 1);
  EXPECT_EQ(all.front().result, -ECANCELED);
  settle();
}

TEST_F(uring, cancels_what_waits_in_the_kernel) {
  pipe_pair pipe;
  room<4> into;
  noted_operation op(to_read(pipe.out(), into.span()));
  driver->submit(op);
  driver->poll();
  EXPECT_EQ(op.ends(), 0);
  EXPECT_FALSE(driver->cancel(op));
  EXPECT_EQ(op.ends(), 0) << "never inside cancel()";
  await(op);
  EXPECT_EQ(op.result, -ECANCELED);
  EXPECT_FALSE(op.timed_out);
  feed(pipe);
  settle();
  EXPECT_EQ(into.span()[0], std::byte{0});
  EXPECT_EQ(::read(pipe.out(), into.span().data(), 1), 1) << "the byte is still there";
}

TEST_F(uring, may_be_asked_twice_to_cancel) {
  pipe_pair pipe;
  room<4> into;
  noted_operation op(to_read(pipe.out(), into.span()));
  driver->submit(op);
  driver->poll();
  EXPECT_FALSE(driver->cancel(op));
  EXPECT_FALSE(driver->cancel(op));
  await(op);
  EXPECT_EQ(op.result, -ECANCELED);
}

TEST_F(uring, does_nothing_about_a_cancel_after_the_end) {
  noted_operation op;
  driver->submit(op);
  await(op);
  EXPECT_FALSE(driver->cancel(op));
  settle();
  EXPECT_EQ(op.ends(), 1);
  EXPECT_EQ(op.result, 0);
}

// Both are in the queue before the kernel sees either.
TEST_F(uring, cancels_what_was_never_submitted_to_the_kernel) {
  pipe_pair pipe;
  room<4> into;
  noted_operation op(to_read(pipe.out(), into.span()));
  driver->submit(op);
  EXPECT_FALSE(driver->cancel(op)) << "it is in the ring";
  await(op);
  EXPECT_EQ(op.result, -ECANCELED);
}

// Every entry of the ring is taken by an operation that is to be cancelled, so no request fits in;
// and the waker is armed, so nothing keeps the owner from sleeping.
TEST_F(uring, cancels_although_the_ring_is_full) {
  sleep_once();
  pipe_pair pipe;
  room<4> into;
  std::deque<noted_operation> all;
  for (std::uint32_t i = 0; i < small.submissions; ++i)
    driver->submit(all.emplace_back(to_read(pipe.out(), into.span())));
  for (noted_operation& one : all) EXPECT_FALSE(driver->cancel(one));
  noted_timer too_late(clock, clock.now() + 2'000 * millisecond);
  driver->add(too_late);
  const auto over = [&] {
    for (const noted_operation& one : all)
      if (!one.ended()) return false;
    return true;
  };
  park_until(*driver, [&] { return over() || too_late.fired() > 0; });
  EXPECT_EQ(too_late.fired(), 0) << "slept, with requests to cancel in hand";
  park_until(*driver, over);
  settle();
  for (const noted_operation& one : all) {
    EXPECT_EQ(one.ends(), 1);
    EXPECT_EQ(one.result, -ECANCELED);
  }
  driver->remove(too_late);
}

TEST_F(uring, ends_what_has_timed_out) {
  pipe_pair pipe;
  room<4> into;
  noted_operation op(to_read(pipe.out(), into.span()));
  for (const std::int64_t length : {5 * millisecond, std::int64_t{0}, -millisecond}) {
    const std::int64_t before = clock.now();
    const int ends = op.ends();
    submit_with_timeout(op, length);
    park_until(*driver, [&] { return op.ends() > ends; });
    EXPECT_EQ(op.ends(), ends + 1);
    EXPECT_EQ(op.result, -ECANCELED);
    EXPECT_TRUE(op.timed_out);
    EXPECT_GE(clock.now() - before, length);
    EXPECT_FALSE(op.expiry.linked());
  }
}

TEST_F(uring, times_out_what_waits_in_line) {
  pipe_pair pipe;
  room<1> into;
  std::deque<noted_operation> all;
  for (int i = 0; i < 20; ++i)
    submit_with_timeout(all.emplace_back(to_read(pipe.out(), into.span())), 0);
  EXPECT_TRUE(driver->glance()) << "those that are in no ring yet";
  EXPECT_EQ(all.back().ends(), 1);
  EXPECT_TRUE(all.back().timed_out);
  for (const noted_operation& one : all) {
    if (!one.ended()) park_until(*driver, [&] { return one.ended(); });
  }
  settle();
  for (const noted_operation& one : all) {
    EXPECT_EQ(one.ends(), 1);
    EXPECT_TRUE(one.timed_out);
  }
}

TEST_F(uring, forgets_the_timeout_of_what_has_ended) {
  noted_operation op;
  submit_with_timeout(op, 2 * millisecond);
  await(op);
  EXPECT_FALSE(op.timed_out);
  EXPECT_FALSE(op.expiry.linked());
  sleep_once();
  sleep_once();
  sleep_once();
  EXPECT_EQ(op.ends(), 1);
}

// The answer to a request may come after what it was meant for has ended. If the record were let go
// before that, the late request would hit whatever the record is used for next.
TEST_F(uring, never_cancels_the_next_operation_of_a_record) {
  pipe_pair pipe;
  room<1> into;
  pipe_pair silent;
  room<1> nothing;
  noted_operation op;
  for (int i = 0; i < 500; ++i) {
    const int before = op.ends();
    op.ask_for(to_read(pipe.out(), into.span()));
    driver->submit(op);
    if (i % 2 == 0) driver->poll();
    feed(pipe);
    EXPECT_FALSE(driver->cancel(op));
    park_until(*driver, [&] { return op.ends() > before; });
    ASSERT_EQ(op.ends(), before + 1);
    if (op.result == -ECANCELED) {
      ASSERT_EQ(::read(pipe.out(), into.span().data(), 1), 1);
    }
    // At once another one, which nobody cancels, in the same record.
    op.ask_for(to_read(silent.out(), nothing.span()));
    driver->submit(op);
    for (int k = 0; k < 4; ++k) driver->poll();
    ASSERT_EQ(op.ends(), before + 1) << "hit by the cancellation of the one before";
    feed(silent);
    park_until(*driver, [&] { return op.ends() > before + 1; });
    ASSERT_EQ(op.ends(), before + 2);
    ASSERT_EQ(op.result, 1);
  }
}

// The queue of completions is full to the last place when the request goes out, so that the
// operation's own is looked at before the answer to the request.
TEST_F(uring, does_not_take_a_late_answer_for_that_of_the_next_operation) {
  pipe_pair others;
  pipe_pair pipe;
  pipe_pair silent;
  room<1> into;
  std::deque<noted_operation> polls;
  for (std::uint32_t i = 0; i + 1 < small.completions; ++i)
    driver->submit(polls.emplace_back(to_poll(others.out(), POLLIN)));
  noted_operation op(to_read(pipe.out(), into.span()));
  driver->submit(op);
  driver->poll();
  feed(others);
  feed(pipe);
  EXPECT_FALSE(driver->cancel(op));
  park_until(*driver, [&] { return op.ended(); });
  EXPECT_EQ(op.result, 1);
  op.ask_for(to_read(silent.out(), into.span()));
  driver->submit(op);
  settle();
  EXPECT_EQ(op.ends(), 1);
  driver->cancel(op);
  noted_timer too_late(clock, clock.now() + 2'000 * millisecond);
  driver->add(too_late);
  park_until(*driver, [&] { return op.ends() == 2 || too_late.fired() > 0; });
  EXPECT_EQ(op.ends(), 2) << "nobody told the kernel to cancel it";
  EXPECT_EQ(op.result, -ECANCELED);
  driver->remove(too_late);
  for (const noted_operation& one : polls) EXPECT_EQ(one.ends(), 1);
}

TEST_F(uring, ends_once_when_it_completes_while_it_is_cancelled) {
  const skua_test::budget time(0.5);
  skua::random_generator random(20'261'116);
  pipe_pair pipe;
  room<1> into;
  noted_operation op;
  int cancelled = 0;
  int read = 0;
  while (time.left()) {
    const int before = op.ends();
    op.ask_for(to_read(pipe.out(), into.span()));
    driver->submit(op);
    driver->poll();
    const auto delay = random.below(200);
    std::atomic<int> spun = 0;
    std::thread writer([&] {
      while (static_cast<std::uint64_t>(spun) < delay) ++spun;
      feed(pipe);
    });
    driver->cancel(op);
    park_until(*driver, [&] { return op.ends() > before; });
    writer.join();
    settle();
    ASSERT_EQ(op.ends(), before + 1);
    if (op.result == -ECANCELED) {
      ++cancelled;
      ASSERT_EQ(::read(pipe.out(), into.span().data(), 1), 1);
    } else {
      ++read;
      ASSERT_EQ(op.result, 1);
    }
  }
  RecordProperty("cancelled", cancelled);
  RecordProperty("read", read);
}

TEST_F(uring, does_not_sleep_after_a_wake_that_came_before) {
  EXPECT_FALSE(driver->wake()) << "nobody slept";
  EXPECT_FALSE(driver->wake());
  driver->park();
  sleep_once();  // and once only: this one slept
}

TEST_F(uring, is_woken_by_other_threads_again_and_again) {
  parked owner(*driver);
  for (int i = 0; i < 200; ++i) {
    owner.await_sleep();
    const int before = owner.returns();
    EXPECT_TRUE(driver->wake());
    while (owner.returns() == before) std::this_thread::yield();
  }
}

TEST_F(uring, is_woken_by_an_operation_of_another_thread) {
  parked owner(*driver);
  for (int i = 0; i < 50; ++i) {
    owner.await_sleep();
    noted_operation op;
    driver->submit(op);
    while (!op.ended()) std::this_thread::yield();
    EXPECT_EQ(op.result, 0);
  }
}

TEST_F(uring, is_woken_by_a_cancel_of_another_thread) {
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

TEST_F(uring, is_woken_by_an_earlier_timer_of_another_thread) {
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
