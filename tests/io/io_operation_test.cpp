// tests/io/io_operation_test.cpp: operations that are stopped, timed out, shielded or out of place.
#include "skua/io/io_operation.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/noted.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua::unique_fd;
using skua_test::bytes_of;
using skua_test::error_of;
using skua_test::noted;
using skua_test::open_fds;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::socket_pair;

class operations : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, operations, skua_test::every_kind(), skua_test::name_of_kind);

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) != -1;
}

/// While it lives, descriptor 0 is a pipe's, so that one who closes it by mistake is seen.
class watched_zero {
public:
  watched_zero() : saved_(::fcntl(0, F_DUPFD_CLOEXEC, 3)) { EXPECT_EQ(::dup2(pipe_.out(), 0), 0); }
  watched_zero(const watched_zero&) = delete;
  watched_zero& operator=(const watched_zero&) = delete;
  ~watched_zero() {
    EXPECT_TRUE(is_open(0)) << "closed by one that it did not belong to";
    if (saved_) {
      EXPECT_EQ(::dup2(saved_.get(), 0), 0);
    } else {
      ::close(0);
    }
  }

private:
  pipe_pair pipe_;
  unique_fd saved_;
};

TEST(operations_without_a_runtime, throw) {
  const watched_zero watch;
  room<4> into;
  pipe_pair pipe;
  auto reads = [](int fd, room<4>& to) -> task<> { co_await io::read(fd, to.span()); };
  EXPECT_THROW(skua::sync_wait(reads(pipe.out(), into)), std::logic_error);
  auto opens = []() -> task<> { co_await io::open("/dev/null", O_RDONLY); };
  EXPECT_THROW(skua::sync_wait(opens()), std::logic_error);
}

TEST(operations_without_a_runtime, close_what_they_were_given) {
  pipe_pair pipe;
  const int number = pipe.in();
  auto closes = [](unique_fd fd) -> task<> { co_await io::close(std::move(fd)); };
  EXPECT_THROW(skua::sync_wait(closes(pipe.take_in())), std::logic_error);
  EXPECT_FALSE(is_open(number));
}

// One is part of every connection that waits, and a few words more are another size of frame.
TEST(operations_that_nobody_awaits, are_small) {
  EXPECT_LE(sizeof(skua::operation), 144U);
  EXPECT_LE(sizeof(skua::io_operation<std::size_t>), 192U);
  EXPECT_LE(sizeof(io::descriptor), 16U);
}

TEST(operations_that_nobody_awaits, do_nothing) {
  const watched_zero watch;
  const std::size_t before = open_fds();
  {
    const auto opens = io::open("/dev/null", O_RDONLY);
    const auto accepts = io::accept(-1);
  }
  EXPECT_EQ(open_fds(), before);
}

TEST(operations_that_nobody_awaits, close_what_they_were_given) {
  pipe_pair pipe;
  const int number = pipe.in();
  {
    const auto closes = io::close(pipe.take_in());
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST_P(operations, may_be_awaited_again_by_their_name) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    room<4> into;
    auto read = io::read(pipe.out(), into.span());
    for (const char* const text : {"one", "two", "six"}) {
      co_await io::write(pipe.in(), bytes_of(text));
      const auto got = co_await read;
      EXPECT_EQ(into.text(got), text);
    }
    read.expire_after(1'000'000);
    for (int i = 0; i < 3; ++i) {
      const auto got = co_await read;
      EXPECT_EQ(error_of(got), std::errc::timed_out) << "again each time";
    }
  };
  rt.block_on(body());
}

TEST_P(operations, close_once_however_often_they_are_awaited) {
  auto rt = start();
  auto body = []() -> task<> {
    auto closing = io::close(unique_fd(::dup(0)));
    EXPECT_TRUE((co_await closing).has_value());
    const unique_fd next(::dup(0));  // may have the same number
    EXPECT_EQ(error_of(co_await closing), std::errc::bad_file_descriptor);
    EXPECT_GE(::fcntl(next.get(), F_GETFD), 0);
  };
  rt.block_on(body());
}

task<> await_at(skua::io_operation<std::size_t>& shared) {
  co_await shared;
}

// By turns on one thread: whoever did it on two at once would race, which no check can promise to
// see.
TEST(operations_of_two_tasks, are_an_error) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto both = []() -> task<> {
    const pipe_pair pipe;
    room<4> into;
    auto reading = io::read(pipe.out(), into.span());
    auto first = spawn(await_at(reading));
    auto second = spawn(await_at(reading));
    co_await std::move(first);
    co_await std::move(second);
  };
  EXPECT_DEATH(skua_test::started(skua_test::alone.settings()).block_on(both()),
               "an operation is awaited by one task at a time");
}

TEST_P(operations, give_a_new_descriptor_each_time) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    auto open = io::open("/dev/null", O_RDONLY);
    const unique_fd first = skua::or_throw(co_await open);
    const unique_fd second = skua::or_throw(co_await open);
    EXPECT_NE(first.get(), second.get());
    EXPECT_TRUE(is_open(first.get()) && is_open(second.get()));
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

/// Of a task, which may take its time to begin.
struct noted_ends {
  std::atomic<bool> begun = false;
  std::string log;
};

/// Reads after it has told so, between two that note their end.
task<> read_noted(int fd, std::span<std::byte> into, noted_ends& ends) {
  const noted outer(ends.log, "outer ");
  auto inner = [](int from, std::span<std::byte> to, noted_ends& where) -> task<> {
    const noted last(where.log, "inner ");
    where.begun = true;
    co_await io::read(from, to);
    where.log += "went on ";
  };
  co_await inner(fd, into, ends);
}

task<> until(const std::atomic<bool>& holds) {
  while (!holds) co_await skua::sleep(1ms);
}

TEST_P(operations, unwind_when_they_are_stopped_and_leave_the_bytes) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    room<4> into;
    noted_ends ends;
    auto reader = spawn(read_noted(pipe.out(), into.span(), ends));
    co_await until(ends.begun);
    co_await skua::sleep(2ms);
    EXPECT_FALSE(reader.done());
    EXPECT_TRUE(reader.abort());
    const auto end = co_await reader.outcome();
    EXPECT_TRUE(end.stopped());
    EXPECT_EQ(ends.log, "inner outer ");
    co_await io::write(pipe.in(), bytes_of("late"));
    co_await skua::sleep(1ms);
    for (const std::byte one : into.span()) EXPECT_EQ(one, std::byte{0}) << "written to afterwards";
    const auto got = co_await io::read(pipe.out(), into.span());
    EXPECT_EQ(into.text(got), "late");
  };
  rt.block_on(body());
}

/// The shield keeps the stop away until it stands before the operation.
task<> open_when_told(int signal) {
  room<4> into;
  co_await skua::shielded(io::read(signal, into.span()));
  co_await io::open("/dev/null", O_RDONLY);
  ADD_FAILURE() << "went on";
}

task<> read_when_told(int signal, int fd, std::span<std::byte> to) {
  room<4> into;
  co_await skua::shielded(io::read(signal, into.span()));
  co_await io::read(fd, to);
  ADD_FAILURE() << "went on";
}

TEST_P(operations, do_not_begin_in_a_task_that_is_to_stop) {
  const watched_zero watch;
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair first;
    pipe_pair second;
    pipe_pair pipe;
    room<4> into;
    co_await io::write(pipe.in(), bytes_of("kept"));
    const std::size_t before = open_fds();
    auto opens = spawn(open_when_told(first.out()));
    auto reads = spawn(read_when_told(second.out(), pipe.out(), into.span()));
    co_await skua::sleep(2ms);
    opens.abort();
    reads.abort();
    co_await io::write(first.in(), bytes_of("now"));
    co_await io::write(second.in(), bytes_of("now"));
    const auto opened = co_await opens.outcome();
    EXPECT_TRUE(opened.stopped());
    const auto read = co_await reads.outcome();
    EXPECT_TRUE(read.stopped());
    EXPECT_EQ(open_fds(), before);
    const auto got = co_await io::read(pipe.out(), into.span());
    EXPECT_EQ(into.text(got), "kept");
  };
  rt.block_on(body());
}

// Whichever is first, the stop or the open: what was opened is the task's, or is closed.
TEST_P(operations, leak_no_descriptor_that_was_opened_as_they_were_stopped) {
  const watched_zero watch;
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    auto opens = []() -> task<> {
      for (;;) {
        const auto fd = co_await io::open("/dev/null", O_RDONLY);
        EXPECT_TRUE(fd.has_value());
      }
    };
    for (int i = 0; i < 200; ++i) {
      auto one = spawn(opens());
      for (int k = 0; k < i % 7; ++k) co_await skua::yield();
      one.abort();
      const auto end = co_await one.outcome();
      EXPECT_TRUE(end.stopped());
    }
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

/// A socket with a name that exists in no file system, which listens.
class listener {
public:
  listener() : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    where_.sun_family = AF_UNIX;
    EXPECT_EQ(::bind(fd_.get(), address(), sizeof(sa_family_t)), 0);  // the kernel names it
    EXPECT_EQ(::getsockname(fd_.get(), address(), &length_), 0);
    EXPECT_EQ(::listen(fd_.get(), 100), 0);
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] unique_fd connected() {
    unique_fd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(made.get(), address(), length_), 0);
    return made;
  }

private:
  sockaddr* address() { return reinterpret_cast<sockaddr*>(&where_); }
  unique_fd fd_;
  sockaddr_un where_{};
  socklen_t length_ = sizeof where_;
};

/// Accepts once, and says so.
task<> accept_one(int fd, int& accepted) {
  const auto got = co_await io::accept(fd);
  if (got) ++accepted;
}

TEST_P(operations, lose_no_connection_that_came_as_they_were_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    listener at;
    for (int i = 0; i < 100; ++i) {
      int accepted = 0;
      auto one = spawn(accept_one(at.fd(), accepted));
      for (int k = 0; k < i % 5; ++k) co_await skua::yield();
      const unique_fd other = at.connected();
      for (int k = 0; k < i % 3; ++k) co_await skua::yield();
      one.abort();
      co_await one.wait();
      if (accepted == 0) {
        // Either it is with the listener still, or it was given to the task, which had stopped.
        pollfd waits{.fd = at.fd(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(::poll(&waits, 1, 0), 1) << "lost";
        co_await accept_one(at.fd(), accepted);
        EXPECT_EQ(accepted, 1);
      }
    }
  };
  rt.block_on(body());
}

TEST_P(operations, end_by_a_stop_and_a_timeout_at_once) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    auto reads = [](int fd, std::chrono::microseconds limit) -> task<bool> {
      room<4> into;
      const auto got = co_await skua::timeout(limit, io::read(fd, into.span()));
      EXPECT_EQ(error_of(got), std::errc::timed_out);
      co_return true;
    };
    int stopped = 0;
    for (int i = 0; i < 100; ++i) {
      auto one = spawn(reads(pipe.out(), 500us));
      co_await skua::sleep(std::chrono::microseconds(i * 10));
      one.abort();
      const auto end = co_await one.outcome();
      EXPECT_FALSE(end.has_exception());
      if (end.stopped()) ++stopped;
    }
    EXPECT_GT(stopped, 0);
    co_await io::write(pipe.in(), bytes_of("all"));
    room<4> into;
    const auto got = co_await io::read(pipe.out(), into.span());
    EXPECT_EQ(into.text(got), "all");
  };
  rt.block_on(body());
}

TEST_P(operations, go_on_under_a_shield) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    std::string text;
    std::atomic<bool> begun = false;
    auto reads = [](int fd, std::string& to, std::atomic<bool>& begins) -> task<> {
      room<8> into;
      begins = true;
      const auto got = co_await skua::shielded(io::read(fd, into.span()));
      to = into.text(got);
      co_await io::nop();
      ADD_FAILURE() << "went on";
    };
    auto reader = spawn(reads(pipe.out(), text, begun));
    co_await until(begun);
    co_await skua::sleep(1ms);
    EXPECT_TRUE(reader.abort());
    co_await skua::sleep(1ms);
    EXPECT_FALSE(reader.done());
    co_await io::write(pipe.in(), bytes_of("behind"));
    const auto end = co_await reader.outcome();
    EXPECT_TRUE(end.stopped());
    EXPECT_EQ(text, "behind");
  };
  rt.block_on(body());
}

TEST_P(operations, are_stopped_by_any_thread) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 50; ++i) {
      pipe_pair pipe;
      room<4> into;
      noted_ends ends;
      auto reader = spawn(read_noted(pipe.out(), into.span(), ends));
      for (int k = 0; k < i % 4; ++k) co_await skua::yield();
      std::thread([&reader] { reader.abort(); }).join();
      const auto end = co_await reader.outcome();
      EXPECT_TRUE(end.stopped());
    }
  };
  rt.block_on(body());
}

/// Waits in a thread of the kernel's own, which is interrupted to end it.
task<> splice_nothing(int from, int to) {
  const auto moved = co_await io::splice(from, io::at_position, to, io::at_position, 100);
  EXPECT_EQ(error_of(moved), std::error_code()) << "went on";
}

TEST_P(operations, that_block_a_thread_of_the_kernel_are_stopped_and_timed_out) {
  auto rt = start();
  auto body = []() -> task<> {
    const pipe_pair from;
    const pipe_pair to;
    for (int i = 0; i < 30; ++i) {
      const auto moved = co_await skua::timeout(
          500us, io::splice(from.out(), io::at_position, to.in(), io::at_position, 100));
      EXPECT_EQ(error_of(moved), std::errc::timed_out) << error_of(moved).message();
      auto mover = spawn(splice_nothing(from.out(), to.in()));
      co_await skua::sleep(std::chrono::microseconds(i * 20));
      mover.abort();
      const auto end = co_await mover.outcome();
      EXPECT_TRUE(end.stopped());
    }
  };
  rt.block_on(body());
}

TEST_P(operations, end_with_their_runtime) {
  pipe_pair pipe;
  socket_pair sockets;
  room<4> into;
  noted_ends ends;
  auto receives = [](int fd) -> task<> {
    room<4> to;
    co_await io::recv(fd, to.span());
  };
  {
    auto rt = start();
    auto handle = rt.spawn(read_noted(pipe.out(), into.span(), ends));
    rt.spawn(receives(sockets.first())).detach();
    auto waits = [](const noted_ends& whose) -> task<> {
      co_await until(whose.begun);
      co_await skua::sleep(2ms);
    };
    rt.block_on(waits(ends));
    handle.detach();
  }
  EXPECT_EQ(ends.log, "inner outer ");
}

// No operation works there, but what was to be closed is not left open.
TEST(operations_without_a_backend, fail_and_still_close) {
  skua::config settings;
  settings.flavour = skua::flavour::current_thread;
  settings.backend = skua::backend::none;
  auto rt = skua_test::started(settings);
  auto body = []() -> task<> {
    const watched_zero watch;
    pipe_pair pipe;
    room<4> into;
    const auto got = co_await io::read(pipe.out(), into.span());
    EXPECT_EQ(error_of(got), std::errc::not_supported);
    const auto opened = co_await io::open("/dev/null", O_RDONLY);
    EXPECT_EQ(error_of(opened), std::errc::not_supported);
    const int number = pipe.in();
    co_await io::close(pipe.take_in());
    EXPECT_FALSE(is_open(number));
  };
  rt.block_on(body());
}

}  // namespace
