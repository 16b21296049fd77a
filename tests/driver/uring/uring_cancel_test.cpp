// tests/driver/uring/uring_cancel_test.cpp: what is cancelled or times out ends once.
#include "skua/base/random.hpp"
#include "support/budget.hpp"
#include "support/driven_uring.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <thread>

namespace {

using skua_test::feed;
using skua_test::millisecond;
using skua_test::noted_operation;
using skua_test::noted_timer;
using skua_test::park_until;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::small;
using skua_test::to_poll;
using skua_test::to_read;

class uring : public skua_test::every_uring {};
INSTANTIATE_TEST_SUITE_P(rings, uring, skua_test::every_ring_use(), skua_test::name_of_use);

TEST_P(uring, takes_back_what_has_not_reached_the_ring) {
  pipe_pair pipe;
  room<1> into;
  std::deque<noted_operation> all;
  fill_with_requests_to_cancel(all, to_read(pipe.out(), into.span()));
  noted_operation last(to_read(pipe.out(), into.span()));
  driver->submit(last);
  EXPECT_TRUE(driver->cancel(last)) << "it waits in line";
  EXPECT_FALSE(driver->cancel(last)) << "it is nowhere";
  settle();
  EXPECT_EQ(last.ends(), 0);
  for (const noted_operation& one : all) EXPECT_EQ(one.result, -ECANCELED);
}

TEST_P(uring, cancels_what_waits_in_the_kernel) {
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

TEST_P(uring, may_be_asked_twice_to_cancel) {
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

TEST_P(uring, does_nothing_about_a_cancel_after_the_end) {
  noted_operation op;
  driver->submit(op);
  await(op);
  EXPECT_FALSE(driver->cancel(op));
  settle();
  EXPECT_EQ(op.ends(), 1);
  EXPECT_EQ(op.result, 0);
}

// Both are in the queue before the kernel sees either.
TEST_P(uring, cancels_what_was_never_submitted_to_the_kernel) {
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
TEST_P(uring, cancels_although_the_ring_is_full) {
  sleep_once();
  pipe_pair pipe;
  room<4> into;
  std::deque<noted_operation> all;
  for (std::uint32_t i = 0; i < small.submissions; ++i)
    driver->submit(all.emplace_back(to_read(pipe.out(), into.span())));
  for (noted_operation& one : all) EXPECT_FALSE(driver->cancel(one));
  noted_timer too_late(clock, clock.now() + 60'000 * millisecond);
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

TEST_P(uring, ends_what_has_timed_out) {
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
    EXPECT_FALSE(op.expiry().linked());
  }
}

TEST_P(uring, times_out_what_waits_in_line) {
  pipe_pair pipe;
  room<1> into;
  std::deque<noted_operation> all;
  fill_with_requests_to_cancel(all, to_read(pipe.out(), into.span()));
  noted_operation& last = all.emplace_back(to_read(pipe.out(), into.span()));
  submit_with_timeout(last, 0);
  EXPECT_TRUE(driver->glance(skua::driver::no_limit)) << "it is in no ring yet";
  EXPECT_EQ(last.ends(), 1);
  EXPECT_TRUE(last.timed_out);
  for (const noted_operation& one : all) {
    if (!one.ended()) park_until(*driver, [&] { return one.ended(); });
  }
  settle();
  for (const noted_operation& one : all) {
    EXPECT_EQ(one.ends(), 1);
    EXPECT_EQ(one.result, -ECANCELED);
  }
}

TEST_P(uring, forgets_the_timeout_of_what_has_ended) {
  noted_operation op;
  submit_with_timeout(op, 2 * millisecond);
  await(op);
  EXPECT_FALSE(op.timed_out);
  EXPECT_FALSE(op.expiry().linked());
  sleep_once();
  sleep_once();
  sleep_once();
  EXPECT_EQ(op.ends(), 1);
}

// The answer to a request may come after what it was meant for has ended. If the record were let go
// before that, the late request would hit whatever the record is used for next.
TEST_P(uring, never_cancels_the_next_operation_of_a_record) {
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
TEST_P(uring, does_not_take_a_late_answer_for_that_of_the_next_operation) {
  if (GetParam() == skua::ring_use::one_thread)
    GTEST_SKIP() << "there the kernel reads in the same call that brings the request, which wins";
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
  noted_timer too_late(clock, clock.now() + 60'000 * millisecond);
  driver->add(too_late);
  park_until(*driver, [&] { return op.ends() == 2 || too_late.fired() > 0; });
  EXPECT_EQ(op.ends(), 2) << "nobody told the kernel to cancel it";
  EXPECT_EQ(op.result, -ECANCELED);
  driver->remove(too_late);
  for (const noted_operation& one : polls) EXPECT_EQ(one.ends(), 1);
}

TEST_P(uring, ends_once_when_it_completes_while_it_is_cancelled) {
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

}  // namespace
