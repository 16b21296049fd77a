// tests/driver/uring/shared_ring_test.cpp: a ring that several threads drive, and threads that end.
#include "driver/uring/uring_driver.hpp"
#include "skua/base/clock.hpp"
#include "support/budget.hpp"
#include "support/driver_tools.hpp"
#include "support/pipes.hpp"
#include "support/sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

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
using skua::uring_driver;
using skua_test::feed;
using skua_test::noted_operation;
using skua_test::noted_timer;
using skua_test::park_until;
using skua_test::parked;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::to_read;

constexpr std::int64_t millisecond = 1'000'000;

class shared_ring : public testing::Test {
protected:
  shared_ring() {
    auto made = uring_driver::make({.submissions = 8, .completions = 16}, clock, pool);
    if (made) driver = std::move(*made);
  }
  void SetUp() override { ASSERT_NE(driver, nullptr) << "there is no io_uring here"; }

  /// On a thread that then ends, and takes along what the kernel knows by its name.
  void submit_by_a_thread_that_ends(noted_operation& op) {
    std::thread mortal([&] {
      driver->submit(op);
      driver->poll();
    });
    mortal.join();
  }
  /// False if it takes longer than that.
  bool ends_within(const noted_operation& op, std::int64_t limit) {
    noted_timer too_late(clock, clock.now() + limit);
    driver->add(too_late);
    park_until(*driver, [&] { return op.ended() || too_late.fired() > 0; });
    driver->remove(too_late);
    return op.ended();
  }

  const skua::monotonic_clock clock;
  skua_test::fake_pool pool;
  std::unique_ptr<uring_driver> driver;
};

// The owner is stuck in something else.
TEST_F(shared_ring, is_served_by_another_thread_in_place_of_its_owner) {
  pipe_pair pipe;
  room<1> into;
  noted_operation read(to_read(pipe.out(), into.span()));
  noted_timer soon(clock, clock.now() + 2 * millisecond);
  driver->submit(read);
  driver->add(soon);
  std::thread helper([&] {
    driver->poll();  // the kernel has it now, by this thread's name
    feed(pipe);
    while (!read.ended() || soon.fired() == 0) driver->poll();
  });
  helper.join();
  EXPECT_EQ(read.ends(), 1);
  EXPECT_EQ(read.result, 1);
  EXPECT_EQ(soon.fired(), 1);
}

TEST_F(shared_ring, times_out_what_its_owner_has_no_time_for) {
  pipe_pair pipe;
  room<1> into;
  noted_operation read(to_read(pipe.out(), into.span()));
  read.expiry().deadline = clock.now() + 2 * millisecond;
  driver->submit(read);
  std::thread helper([&] {
    while (!read.ended()) driver->poll();
  });
  helper.join();
  EXPECT_EQ(read.ends(), 1);
  EXPECT_EQ(read.result, -ECANCELED);
  EXPECT_TRUE(read.timed_out);
}

// What says "wake up" comes as a completion, and a helper that reaps it must not keep it.
TEST_F(shared_ring, lets_no_helper_swallow_a_wake) {
  const skua_test::budget time(1.0);
  parked owner(*driver);
  std::atomic<bool> over = false;
  std::thread helper([&] {
    while (!over) driver->poll();
  });
  bool woken = true;
  while (time.left() && woken) {
    const int before = owner.returns();
    driver->wake();
    const std::int64_t limit = clock.now() + 60'000 * millisecond;
    while (owner.returns() == before && clock.now() < limit) std::this_thread::yield();
    woken = owner.returns() != before;
  }
  EXPECT_TRUE(woken) << "after " << owner.returns() << " wakes";
  over = true;
  helper.join();
  if (woken) return;
  noted_operation way_out;  // the end of an operation ends its sleep, too
  const int before = owner.returns();
  driver->submit(way_out);
  while (!way_out.ended() || owner.returns() == before) driver->poll();
}

/// Reads of one byte each: some are cancelled, and no byte is lost, whoever gets it.
void read_and_cancel(uring_driver& driver) {
  pipe_pair pipe;
  std::vector<std::byte> into(30);
  const std::vector<char> bytes(into.size(), 'z');
  std::vector<char> left(into.size());
  std::deque<noted_operation> all;
  std::vector<bool> taken_back;
  for (std::size_t i = 0; i < into.size(); ++i)
    driver.submit(all.emplace_back(to_read(pipe.out(), std::span(into).subspan(i, 1))));
  for (std::size_t i = 0; i < into.size(); ++i)
    taken_back.push_back(i < 10 && driver.cancel(all[i]));
  EXPECT_EQ(::write(pipe.in(), bytes.data(), bytes.size()), std::ssize(bytes));
  ssize_t unread = std::ssize(bytes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    while (!taken_back[i] && !all[i].ended()) std::this_thread::yield();
    EXPECT_EQ(all[i].ends(), taken_back[i] ? 0 : 1);
    if (all[i].ended() && all[i].result == 1) --unread;
  }
  if (unread > 0) {
    EXPECT_EQ(::read(pipe.out(), left.data(), left.size()), unread);
  }
}

TEST_F(shared_ring, is_used_by_all_at_once) {
  const skua_test::budget time(0.7);
  parked owner(*driver);
  std::atomic<bool> over = false;
  std::thread helper([&] {
    for (; !over; std::this_thread::yield()) driver->poll();
  });
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i)
    users.emplace_back([&] {
      while (time.left()) read_and_cancel(*driver);
    });
  for (std::thread& one : users) one.join();
  over = true;
  helper.join();
}

TEST_F(shared_ring, begins_anew_what_ended_with_its_thread) {
  pipe_pair pipe;
  room<1> into;
  noted_operation read(to_read(pipe.out(), into.span()));
  submit_by_a_thread_that_ends(read);
  noted_timer soon(clock, clock.now() + 20 * millisecond);
  driver->add(soon);
  park_until(*driver, [&] { return soon.fired() > 0; });
  EXPECT_EQ(read.ends(), 0) << "nobody cancelled it: " << read.result;
  feed(pipe);
  ASSERT_TRUE(ends_within(read, 60'000 * millisecond));
  EXPECT_EQ(read.result, 1);
}

TEST_F(shared_ring, still_times_out_what_it_began_anew) {
  pipe_pair pipe;
  room<1> into;
  noted_operation read(to_read(pipe.out(), into.span()));
  read.expiry().deadline = clock.now() + 30 * millisecond;
  submit_by_a_thread_that_ends(read);
  ASSERT_TRUE(ends_within(read, 60'000 * millisecond));
  EXPECT_GE(clock.now(), read.expiry().deadline);
  EXPECT_EQ(read.result, -ECANCELED);
  EXPECT_TRUE(read.timed_out);
}

// One of those that block a thread of the kernel's, which is interrupted when ours ends.
TEST_F(shared_ring, begins_anew_what_was_interrupted_with_its_thread) {
  pipe_pair from;
  pipe_pair to;
  op_request what;
  what.code = op_code::splice;
  what.other_offset = -1;
  what.fd = from.out();
  what.other_fd = to.in();
  what.length = 10;
  noted_operation move(what);
  submit_by_a_thread_that_ends(move);
  noted_timer soon(clock, clock.now() + 20 * millisecond);
  driver->add(soon);
  park_until(*driver, [&] { return soon.fired() > 0; });
  EXPECT_EQ(move.ends(), 0) << "nobody cancelled it: " << move.result;
  feed(from);
  ASSERT_TRUE(ends_within(move, 60'000 * millisecond));
  EXPECT_EQ(move.result, 1);
}

TEST_F(shared_ring, connects_although_the_thread_that_began_has_ended) {
  skua_test::listener listener(skua_test::address::loopback(), 0);
  const skua_test::full_queue in_the_way(listener.fd());
  const skua::unique_fd socket = skua_test::new_socket(AF_INET);
  op_request what;
  what.code = op_code::connect;
  what.fd = socket.get();
  what.address = listener.at().get();
  what.length = listener.at().length;
  noted_operation connect(what);
  submit_by_a_thread_that_ends(connect);
  driver->poll();
  driver->poll();
  EXPECT_EQ(connect.ends(), 0) << connect.result;
  for (std::size_t i = 0; i < in_the_way.size(); ++i) listener.accepted().reset();
  ASSERT_TRUE(ends_within(connect, 60'000 * millisecond));
  EXPECT_EQ(connect.result, 0);
}

// The kernel watches the waker in the name of a thread that has ended.
TEST_F(shared_ring, is_woken_after_the_end_of_the_thread_that_slept_before) {
  for (int i = 0; i < 5; ++i) {
    parked owner(*driver);
    for (int k = 0; k < 3; ++k) {
      owner.await_sleep();
      const int before = owner.returns();
      EXPECT_TRUE(driver->wake());
      while (owner.returns() == before) std::this_thread::yield();
    }
  }
}

}  // namespace
