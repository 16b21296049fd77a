// tests/issues/libxev_233_test.cpp: a late request to cancel hit the next use of the same record.
//
// libxev 233: an operation ended while the request to cancel it was on its way. Its record was used
// again for the next operation, which has the same address and so the same name: the request, or
// the answer to it, was taken to be about that one.
//
// Here an operation of which a request to cancel was sent ends only when that was answered as well
// (uring_driver::completed(): `cancelling::sent`), so that nothing with its name is left on either
// side when the record is free. On epoll, whoever takes it out of its descriptor's entry has it.
#include "driver/uring/uring_driver.hpp"
#include "skua/base/clock.hpp"
#include "skua/skua.hpp"
#include "support/driven_epoll.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::op_code;
using skua::spawn;
using skua::task;
using skua_test::noted_op;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::watchdog;

// --- a ring by hand

/// With as few completions as there can be, so that the answer to a request comes late.
class libxev_233_ring : public testing::Test {
protected:
  static constexpr std::size_t completions = 16;

  void SetUp() override {
    auto made = skua::uring_driver::make(
        {.submissions = completions / 2, .completions = completions}, clock, pool);
    if (!made) GTEST_SKIP() << "there is no io_uring";
    driver = std::move(*made);
    ASSERT_EQ(driver->get_ring().completion_entries(), completions);
  }
  void drive_until(const noted_op& op, int ends) {
    for (int i = 0; i < 200 && op.ends() < ends; ++i) {
      driver->poll();
      if (op.ends() < ends) std::this_thread::sleep_for(100us);
    }
  }

  skua::monotonic_clock clock;
  skua_test::one_thread pool;
  std::unique_ptr<skua::uring_driver> driver;
};

/// A read of one byte, from a pipe of its own.
struct read_of_one {
  pipe_pair pipe;
  std::string into = " ";
  noted_op op{skua_test::request(op_code::read, pipe.out(), into)};
  void send() const { EXPECT_EQ(::write(pipe.in(), "x", 1), 1); }
};

TEST_F(libxev_233_ring, an_answer_that_comes_late_is_not_taken_for_one_about_the_next_use) {
  std::array<read_of_one, completions> reads;
  for (read_of_one& one : reads) driver->submit(one.op);
  for (int i = 0; i < 3; ++i) driver->poll();
  for (const read_of_one& one : reads) one.send();  // the queue of completions is full
  read_of_one& reused = reads.back();
  EXPECT_FALSE(driver->cancel(reused.op));
  driver->poll();  // the answer finds no room, and comes with the next call
  drive_until(reused.op, 1);
  ASSERT_EQ(reused.op.ends(), 1);
  EXPECT_EQ(reused.op.result, 1);

  driver->submit(reused.op);
  for (int i = 0; i < 3; ++i) driver->poll();
  EXPECT_EQ(reused.op.ends(), 1) << "the next use was cancelled by the request about the last one";
  EXPECT_FALSE(driver->cancel(reused.op));
  drive_until(reused.op, 2);
  EXPECT_EQ(reused.op.ends(), 2) << "a request to cancel was taken to be answered already";
  EXPECT_EQ(reused.op.result, -ECANCELED);
  if (reused.op.ends() == 1) reused.send();
  drive_until(reused.op, 2);
  for (read_of_one& one : reads) drive_until(one.op, 1);
}

// --- runtimes

class libxev_233 : public skua_test::for_each_kind {
protected:
  watchdog hang{"an operation that is used again"};
};
INSTANTIATE_TEST_SUITE_P(every, libxev_233, skua_test::every_kind(), skua_test::name_of_kind);

task<> writes_after(std::chrono::microseconds length, int fd) {
  co_await skua::sleep(length);
  EXPECT_EQ((co_await io::write(fd, skua_test::bytes_of("x"))).value_or(0), 1U);
}

/// Each use with a limit, which may cut it short, is followed by one without, which nothing may.
task<> uses_again(int rounds, int& timed_out, watchdog& hang) {
  const pipe_pair pipe;
  room<1> into;
  auto reads = io::read(pipe.out(), into.span());
  for (int i = 0; i < rounds; ++i) {
    auto first = spawn(writes_after(i % 40 * 5us, pipe.in()));
    const auto got = co_await skua::timeout(100us, reads);
    std::size_t received = got.value_or(0);
    if (!got) {
      ++timed_out;
      EXPECT_EQ(got.error(), std::errc::timed_out);
    }
    reads.expire_after(skua::no_deadline);
    auto second = spawn(writes_after(i % 3 * 20us, pipe.in()));
    while (received < 2) {
      const auto more = co_await reads;
      EXPECT_TRUE(more.has_value()) << more.error().message();
      received += more.value_or(2);
    }
    co_await std::move(first);
    co_await std::move(second);
    hang.progress();
  }
}

TEST_P(libxev_233, a_use_without_a_limit_is_not_cut_short_by_the_limit_of_the_one_before) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  int timed_out = 0;
  rt.block_on(uses_again(300, timed_out, hang));
  EXPECT_GT(timed_out, 0);
}

task<> reads_once(int fd, std::atomic<int>& got) {
  room<1> into;
  const auto count = co_await io::read(fd, into.span());
  got += static_cast<int>(count.value_or(0));
}

/// The frame of the one that is stopped is the frame of the next, and so is the record in it.
task<> stopped_and_followed(int rounds, watchdog& hang) {
  const pipe_pair pipe;
  for (int i = 0; i < rounds; ++i) {
    std::atomic<int> got{0};
    auto first = spawn(reads_once(pipe.out(), got));
    for (int turn = i % 4; turn > 0; --turn) co_await skua::yield();
    if (i % 2 == 0) co_await io::nop();
    EXPECT_EQ(::write(pipe.in(), "x", 1), 1);
    if (i % 3 == 0) co_await skua::yield();
    first.abort();
    co_await first.wait();
    auto second = spawn(reads_once(pipe.out(), got));
    co_await skua::yield();
    if (got == 1) {
      EXPECT_EQ(::write(pipe.in(), "x", 1), 1);
    }
    const auto end = co_await second.outcome();
    EXPECT_FALSE(end.stopped());
    EXPECT_GE(got, 1);
    hang.progress();
  }
}

TEST_P(libxev_233, a_task_is_not_stopped_by_the_stop_of_the_one_whose_place_it_has) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  rt.block_on(stopped_and_followed(500, hang));
}

/// A limit and the next stop: the answer about the limit must not stand for that.
task<> uses_for_ever(int fd, std::atomic<int>& uses) {
  room<1> into;
  auto reads = io::read(fd, into.span());
  for (;;) {
    const auto got = co_await skua::timeout(50us, reads);
    ++uses;
    if (!got) {
      EXPECT_EQ(got.error(), std::errc::timed_out);
    }
    reads.expire_after(skua::no_deadline);
    co_await reads;
    ++uses;
  }
}

task<> stops_what_is_used_again(int round) {
  const pipe_pair pipe;
  std::atomic<int> uses{0};
  auto user = spawn(uses_for_ever(pipe.out(), uses));
  for (int i = 0; i < round % 7; ++i) {
    co_await skua::sleep(45us + i * 2us);
    EXPECT_EQ(::write(pipe.in(), "x", 1), 1);
  }
  user.abort();
  EXPECT_TRUE((co_await user.outcome()).stopped());
}

TEST_P(libxev_233, a_use_that_follows_one_that_timed_out_can_be_stopped) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 100; ++i) {
    rt.block_on(stops_what_is_used_again(i));
    hang.progress();
  }
}

}  // namespace
