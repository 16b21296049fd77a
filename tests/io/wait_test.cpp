// tests/io/wait_test.cpp: readiness, the ends of processes, and words of memory.
#include "skua/io/wait.hpp"

#include "driver/futex.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" {  // which the header of glibc 2.36 forgets to say
#include <sys/pidfd.h>
}

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua::unique_fd;
using skua_test::bytes_of;
using skua_test::error_of;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::socket_pair;

class waits : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, waits, skua_test::every_kind(), skua_test::name_of_kind);

// --- readiness

task<std::uint32_t> ready(int fd, std::uint32_t events) {
  co_return skua::or_throw(co_await io::poll_fd(fd, events));
}

TEST_P(waits, tell_what_is_ready_now) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair pair;
    EXPECT_EQ(co_await ready(pair.first(), POLLIN | POLLOUT), POLLOUT + 0U);
    co_await io::send(pair.second(), bytes_of("x"));
    EXPECT_EQ(co_await ready(pair.first(), POLLIN), POLLIN + 0U);
    EXPECT_EQ(co_await ready(pair.first(), POLLIN), POLLIN + 0U) << "it is a state, not an edge";
    EXPECT_EQ(co_await ready(pair.first(), POLLIN | POLLOUT), (POLLIN | POLLOUT) + 0U);
  };
  rt.block_on(body());
}

TEST_P(waits, end_when_something_becomes_readable) {
  auto rt = start();
  auto body = []() -> task<> {
    const pipe_pair pipe;
    auto first = spawn(ready(pipe.out(), POLLIN));
    auto second = spawn(ready(pipe.out(), POLLIN));
    co_await skua::sleep(1ms);
    EXPECT_FALSE(first.done() || second.done());
    co_await io::write(pipe.in(), bytes_of("x"));
    EXPECT_EQ(co_await std::move(first), POLLIN + 0U);
    EXPECT_EQ(co_await std::move(second), POLLIN + 0U) << "all who wait are told";
  };
  rt.block_on(body());
}

TEST_P(waits, end_when_there_is_room_to_write) {
  auto rt = start();
  auto body = []() -> task<> {
    const pipe_pair pipe(O_CLOEXEC | O_NONBLOCK);
    const std::vector<char> some(4'096);
    while (::write(pipe.in(), some.data(), some.size()) > 0) continue;
    auto writer = spawn(ready(pipe.in(), POLLOUT));
    co_await skua::sleep(1ms);
    EXPECT_FALSE(writer.done());
    std::vector<std::byte> into(65'536);
    co_await io::read(pipe.out(), into);
    EXPECT_EQ(co_await std::move(writer), POLLOUT + 0U);
  };
  rt.block_on(body());
}

TEST_P(waits, end_when_the_other_side_hangs_up) {
  auto rt = start();
  auto body = []() -> task<> {
    pipe_pair pipe;
    auto reader = spawn(ready(pipe.out(), POLLIN));
    co_await skua::sleep(1ms);
    pipe.close_in();
    EXPECT_EQ(co_await std::move(reader), POLLHUP + 0U) << "told without being asked for";
    pipe_pair other;
    other.close_out();
    EXPECT_NE(co_await ready(other.in(), 0) & POLLERR, 0U);
  };
  rt.block_on(body());
}

TEST_P(waits, refuse_descriptors_that_are_none) {
  auto rt = start();
  auto body = []() -> task<> {
    siginfo_t how{};
    EXPECT_EQ(error_of(co_await io::poll_fd(-1, POLLIN)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await io::poll_fd(999'999, POLLIN)), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await io::wait_process(999'999, how, WEXITED)),
              std::errc::bad_file_descriptor);
    EXPECT_FALSE((co_await io::wait_process(-1, how, WEXITED)).has_value());
  };
  rt.block_on(body());
}

TEST_P(waits, time_out_and_may_be_tried_again) {
  auto rt = start();
  auto body = []() -> task<> {
    const pipe_pair pipe;
    for (const auto length : {3ms, 0ms, -1ms}) {
      const auto none = co_await skua::timeout(length, io::poll_fd(pipe.out(), POLLIN));
      EXPECT_EQ(error_of(none), std::errc::timed_out);
    }
    co_await io::write(pipe.in(), bytes_of("x"));
    const auto some = co_await skua::timeout(0ms, io::poll_fd(pipe.out(), POLLIN));
    EXPECT_EQ(some.value_or(0), POLLIN + 0U) << "one chance is enough";
  };
  rt.block_on(body());
}

TEST_P(waits, of_one_are_ended_by_a_stop_and_those_of_others_go_on) {
  auto rt = start();
  auto body = []() -> task<> {
    const pipe_pair pipe;
    auto stopped = spawn(ready(pipe.out(), POLLIN));
    auto other = spawn(ready(pipe.out(), POLLIN));
    co_await skua::sleep(1ms);
    stopped.abort();
    const auto end = co_await stopped.outcome();
    EXPECT_TRUE(end.stopped());
    EXPECT_FALSE(other.done());
    co_await io::write(pipe.in(), bytes_of("x"));
    EXPECT_EQ(co_await std::move(other), POLLIN + 0U);
  };
  rt.block_on(body());
}

// --- processes

/// A child that does nothing until it is told how to end, or is killed.
class child {
public:
  explicit child(int code = 0) {
    id_ = ::fork();
    if (id_ == 0) {  // no more than what is safe in the child of many threads
      char byte = 0;
      orders_.close_in();
      const ssize_t got = ::read(orders_.out(), &byte, 1);
      ::_exit(got == 1 ? code : 99);
    }
    orders_.close_out();
    fd_.reset(::pidfd_open(id_, 0));
    EXPECT_TRUE(fd_);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);  // nothing if it was taken already
  }

  [[nodiscard]] pid_t id() const { return id_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  void let_go() const { EXPECT_EQ(::write(orders_.in(), "x", 1), 1); }
  void kill(int signal) const { EXPECT_EQ(::kill(id_, signal), 0); }
  /// True if nobody has taken its end yet.
  [[nodiscard]] bool is_there() const {
    siginfo_t how{};
    return ::waitid(P_PID, static_cast<id_t>(id_), &how, WEXITED | WNOHANG | WNOWAIT) == 0;
  }

private:
  pipe_pair orders_;
  pid_t id_ = -1;
  unique_fd fd_;
};

task<siginfo_t> end_of(int pidfd) {
  siginfo_t how{};
  skua::or_throw(co_await io::wait_process(pidfd, how, WEXITED));
  co_return how;
}

TEST_P(waits, end_with_a_child) {
  const child one(7);
  auto rt = start();
  auto body = [](const child& whom) -> task<> {
    auto waiter = spawn(end_of(whom.fd()));
    co_await skua::sleep(1ms);
    EXPECT_FALSE(waiter.done());
    whom.let_go();
    const siginfo_t how = co_await std::move(waiter);
    EXPECT_EQ(how.si_pid, whom.id());
    EXPECT_EQ(how.si_code, CLD_EXITED);
    EXPECT_EQ(how.si_status, 7);
    EXPECT_FALSE(whom.is_there());
    siginfo_t again{};
    const auto second = co_await io::wait_process(whom.fd(), again, WEXITED);
    EXPECT_EQ(error_of(second), std::errc::no_child_process) << "it was taken";
  };
  rt.block_on(body(one));
}

TEST_P(waits, end_with_a_child_that_was_killed) {
  const child one;
  auto rt = start();
  auto body = [](const child& whom) -> task<> {
    whom.kill(SIGKILL);
    const siginfo_t how = co_await end_of(whom.fd());
    EXPECT_EQ(how.si_pid, whom.id());
    EXPECT_EQ(how.si_code, CLD_KILLED);
    EXPECT_EQ(how.si_status, SIGKILL);
  };
  rt.block_on(body(one));
}

TEST_P(waits, leave_a_child_to_others_if_told_to) {
  const child one(3);
  auto rt = start();
  auto body = [](const child& whom) -> task<> {
    whom.let_go();
    for (int i = 0; i < 3; ++i) {
      siginfo_t how{};
      const auto done = co_await io::wait_process(whom.fd(), how, WEXITED | WNOWAIT);
      EXPECT_TRUE(done.has_value());
      EXPECT_EQ(how.si_status, 3);
      EXPECT_TRUE(whom.is_there());
    }
    const siginfo_t how = co_await end_of(whom.fd());
    EXPECT_EQ(how.si_status, 3);
  };
  rt.block_on(body(one));
}

TEST_P(waits, time_out_before_a_child_ends_and_take_it_later) {
  const child one(5);
  auto rt = start();
  auto body = [](const child& whom) -> task<> {
    for (const auto length : {3ms, 0ms}) {
      siginfo_t how{};
      const auto none = co_await skua::timeout(length, io::wait_process(whom.fd(), how, WEXITED));
      EXPECT_EQ(error_of(none), std::errc::timed_out);
    }
    EXPECT_TRUE(whom.is_there());
    auto stopped = spawn(end_of(whom.fd()));
    co_await skua::sleep(1ms);
    stopped.abort();
    const auto end = co_await stopped.outcome();
    EXPECT_TRUE(end.stopped());
    whom.let_go();
    const siginfo_t how = co_await end_of(whom.fd());
    EXPECT_EQ(how.si_status, 5);
  };
  rt.block_on(body(one));
}

// It is told at once: nobody waits for the end of a process whose end is another's to take.
TEST_P(waits, refuse_what_is_no_child_of_ours) {
  auto rt = start();
  auto body = []() -> task<> {
    const unique_fd parent(::pidfd_open(::getppid(), 0));
    EXPECT_TRUE(parent);
    siginfo_t how{};
    const auto no = co_await skua::timeout(60s, io::wait_process(parent.get(), how, WEXITED));
    EXPECT_EQ(error_of(no), std::errc::no_child_process);
    const pipe_pair pipe;
    co_await io::write(pipe.in(), bytes_of("x"));
    const auto no_process = co_await io::wait_process(pipe.out(), how, WEXITED);
    EXPECT_FALSE(no_process.has_value());
  };
  rt.block_on(body());
}

TEST_P(waits, refuse_options_that_ask_for_nothing) {
  const child one;
  auto rt = start();
  auto body = [](const child& whom) -> task<> {
    siginfo_t how{};
    whom.let_go();
    const auto no = co_await io::wait_process(whom.fd(), how, 0);
    EXPECT_EQ(error_of(no), std::errc::invalid_argument);
    EXPECT_TRUE(whom.is_there());
  };
  rt.block_on(body(one));
}

TEST_P(waits, end_with_each_of_many_children) {
  std::vector<std::unique_ptr<child>> all;
  for (int i = 0; i < 20; ++i) all.push_back(std::make_unique<child>(i));
  auto rt = start();
  auto body = [](const std::vector<std::unique_ptr<child>>& whom) -> task<> {
    std::vector<skua::join_handle<siginfo_t>> ends;
    for (const auto& one : whom) ends.push_back(spawn(end_of(one->fd())));
    co_await skua::sleep(1ms);
    for (const auto& one : whom) one->let_go();
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const siginfo_t how = co_await std::move(ends[i]);
      EXPECT_EQ(how.si_status, static_cast<int>(i));
    }
  };
  rt.block_on(body(all));
}

// --- words

/// The word as the library's own futex takes it, and as a task waits at it.
class word {
public:
  [[nodiscard]] std::uint32_t& raw() { return raw_; }
  void set(std::uint32_t value) { std::atomic_ref(raw_).store(value); }
  /// Wakes one; false if nobody waits.
  bool wake() {
    // The wrapper uses nothing but the address.
    return skua::process_futex::wake_one(*static_cast<std::atomic<std::uint32_t>*>(address()));
  }

private:
  void* address() { return &raw_; }
  std::uint32_t raw_ = 0;
};

task<> wait_at(word& at, std::uint32_t expected, std::atomic<int>& woken) {
  const auto done = co_await io::futex_wait(at.raw(), expected);
  EXPECT_TRUE(done.has_value()) << done.error().message();
  ++woken;
}

TEST_P(waits, end_when_a_word_is_woken) {
  auto rt = start();
  auto body = []() -> task<> {
    word at;
    std::atomic<int> woken = 0;
    auto waiter = spawn(wait_at(at, 0, woken));
    std::thread waker([&] {
      while (!at.wake()) std::this_thread::yield();  // it does not wait yet
    });
    co_await std::move(waiter);
    waker.join();
    EXPECT_EQ(woken, 1);
  };
  rt.block_on(body());
}

TEST_P(waits, end_one_by_one_at_a_word) {
  auto rt = start();
  auto body = []() -> task<> {
    word at;
    std::atomic<int> woken = 0;
    auto first = spawn(wait_at(at, 0, woken));
    auto second = spawn(wait_at(at, 0, woken));
    while (!at.wake()) co_await skua::sleep(1ms);
    while (woken == 0) co_await skua::sleep(1ms);
    co_await skua::sleep(3ms);
    EXPECT_EQ(woken, 1) << "a wake is for one";
    while (!at.wake()) co_await skua::sleep(1ms);
    co_await std::move(first);
    co_await std::move(second);
  };
  rt.block_on(body());
}

TEST_P(waits, do_not_begin_at_a_word_that_has_changed) {
  auto rt = start();
  auto body = []() -> task<> {
    word at;
    at.set(8);
    const auto no = co_await io::futex_wait(at.raw(), 7);
    EXPECT_EQ(error_of(no), std::errc::resource_unavailable_try_again);
    at.set(0xffffffff);
    const auto none = co_await skua::timeout(2ms, io::futex_wait(at.raw(), 0xffffffff));
    EXPECT_EQ(error_of(none), std::errc::timed_out) << "every value is a value";
  };
  rt.block_on(body());
}

TEST_P(waits, at_a_word_time_out_and_are_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    word at;
    for (const auto length : {3ms, 0ms, -1ms}) {
      const auto none = co_await skua::timeout(length, io::futex_wait(at.raw(), 0));
      EXPECT_EQ(error_of(none), std::errc::timed_out);
    }
    std::atomic<int> woken = 0;
    for (int i = 0; i < 20; ++i) {
      auto waiter = spawn(wait_at(at, 0, woken));
      for (int k = 0; k < i % 4; ++k) co_await skua::yield();
      waiter.abort();
      const auto end = co_await waiter.outcome();
      EXPECT_TRUE(end.stopped());
    }
    EXPECT_EQ(woken, 0);
  };
  rt.block_on(body());
}

}  // namespace
