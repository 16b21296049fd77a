// tests/driver/blocking_call_test.cpp: each operation as a plain system call of this thread.
#include "driver/blocking_call.hpp"

#include "driver/futex.hpp"
#include "support/driver_tools.hpp"
#include "support/pipes.hpp"
#include "support/sockets.hpp"
#include "support/temp_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

extern "C" {  // which the header of glibc 2.36 forgets to say
#include <sys/pidfd.h>
}

namespace {

using skua::call_and_block;
using skua::op_code;
using skua::op_request;
using skua::unique_fd;
using skua_test::noted_operation;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::socket_pair;
using skua_test::temp_directory;
using skua_test::text_of;

std::int32_t result_of(const op_request& what) {
  noted_operation op(what);
  const std::int32_t got = call_and_block(op);
  EXPECT_EQ(op.ends(), 0) << "it is the caller who says that it has ended";
  return got;
}

op_request about(op_code code, int fd, const void* address = nullptr, std::uint64_t length = 0) {
  op_request what;
  what.code = code;
  what.fd = fd;
  what.address = const_cast<void*>(address);
  what.length = length;
  return what;
}

op_request about_name(op_code code, const std::string& path, std::uint32_t flags = 0,
                      std::uint32_t mode = 0) {
  op_request what = about(code, AT_FDCWD, path.c_str());
  what.flags = flags;
  what.mode = mode;
  return what;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

TEST(blocking_call, does_nothing_if_there_is_nothing_to_do) {
  EXPECT_EQ(result_of({}), 0);
}

TEST(blocking_call, moves_bytes) {
  const pipe_pair pipe;
  room<8> into;
  EXPECT_EQ(result_of(about(op_code::write, pipe.in(), "hello", 5)), 5);
  EXPECT_EQ(result_of(about(op_code::read, pipe.out(), into.span().data(), 8)), 5);
  EXPECT_EQ(text_of(into.span().first(5)), "hello");
  char a[3] = {'a', 'b', 'c'};
  char b[2] = {'d', 'e'};
  const std::array<iovec, 2> parts = {iovec{a, 3}, iovec{b, 2}};
  EXPECT_EQ(result_of(about(op_code::writev, pipe.in(), parts.data(), 2)), 5);
  std::array<iovec, 2> back = {iovec{b, 2}, iovec{a, 3}};
  EXPECT_EQ(result_of(about(op_code::readv, pipe.out(), back.data(), 2)), 5);
  EXPECT_EQ(std::string(b, 2) + std::string(a, 3), "abcde");
  EXPECT_EQ(result_of(about(op_code::read, -1, into.span().data(), 8)), -EBADF);
  EXPECT_EQ(result_of(about(op_code::write, -1, "x", 1)), -EBADF);
}

TEST(blocking_call, moves_bytes_at_an_offset_and_at_the_position) {
  const temp_directory place;
  const std::string path = place / "file";
  const unique_fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_EQ(result_of(about(op_code::write, file.get(), "0123", 4)), 4);
  op_request what = about(op_code::write, file.get(), "x", 1);
  what.offset = 1;
  EXPECT_EQ(result_of(what), 1);
  EXPECT_EQ(result_of(about(op_code::write, file.get(), "4", 1)), 1);
  EXPECT_EQ(content_of(path), "0x234");
  room<2> into;
  what = about(op_code::read, file.get(), into.span().data(), 2);
  what.offset = 3;
  EXPECT_EQ(result_of(what), 2);
  EXPECT_EQ(text_of(into.span()), "34");
  EXPECT_EQ(result_of(about(op_code::read, file.get(), into.span().data(), 2)), 0) << "at its end";
}

TEST(blocking_call, splices) {
  const pipe_pair from;
  const pipe_pair to;
  ASSERT_EQ(::write(from.in(), "moved", 5), 5);
  op_request what = about(op_code::splice, from.out(), nullptr, 100);
  what.other_offset = -1;
  what.other_fd = to.in();
  EXPECT_EQ(result_of(what), 5);
  room<8> into;
  EXPECT_EQ(::read(to.out(), into.span().data(), 8), 5);
  const temp_directory place;
  const unique_fd file(::open((place / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(file.get(), "012345", 6), 6);
  what = about(op_code::splice, file.get(), nullptr, 2);
  what.other_offset = -1;
  what.offset = 3;
  what.other_fd = to.in();
  EXPECT_EQ(result_of(what), 2);
  EXPECT_EQ(::read(to.out(), into.span().data(), 8), 2);
  EXPECT_EQ(text_of(into.span().first(2)), "34");
}

TEST(blocking_call, talks_to_sockets) {
  socket_pair pair;
  room<8> into;
  EXPECT_EQ(result_of(about(op_code::send, pair.first(), "one", 3)), 3);
  EXPECT_EQ(result_of(about(op_code::send_zc, pair.first(), "two", 3)), 3);
  EXPECT_EQ(result_of(about(op_code::recv, pair.second(), into.span().data(), 8)), 6);
  EXPECT_EQ(text_of(into.span().first(6)), "onetwo");
  char text[] = "msg";
  iovec part{text, 3};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  EXPECT_EQ(result_of(about(op_code::sendmsg, pair.first(), &message, 1)), 3);
  EXPECT_EQ(result_of(about(op_code::recvmsg, pair.second(), &message, 1)), 3);
  op_request what = about(op_code::recv, pair.second(), into.span().data(), 8);
  what.flags = MSG_DONTWAIT;
  EXPECT_EQ(result_of(what), -EAGAIN);
  what = about(op_code::shutdown, pair.second());
  what.flags = SHUT_RDWR;
  EXPECT_EQ(result_of(what), 0);
  EXPECT_EQ(result_of(about(op_code::recv, pair.first(), into.span().data(), 8)), 0);
  pair.close_second();
  EXPECT_EQ(result_of(about(op_code::send, pair.first(), "x", 1)), -EPIPE) << "and no signal";
  EXPECT_EQ(result_of(about(op_code::sendmsg, pair.first(), &message, 1)), -EPIPE);
}

TEST(blocking_call, connects_and_accepts) {
  skua_test::listener at;
  const unique_fd mine = skua_test::new_socket(AF_INET);
  EXPECT_EQ(result_of(about(op_code::connect, mine.get(), at.at().get(), at.at().length)), 0);
  skua_test::address from;
  op_request what = about(op_code::accept, at.fd(), from.get());
  what.other_address = &from.length;
  what.flags = SOCK_CLOEXEC;
  const unique_fd other(result_of(what));
  EXPECT_TRUE(other);
  EXPECT_EQ(::fcntl(other.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(from.port(), skua_test::address::of(mine.get()).port());
  EXPECT_EQ(result_of(about(op_code::connect, mine.get(), at.at().get(), at.at().length)),
            -EISCONN);
}

TEST(blocking_call, opens_changes_and_closes) {
  const temp_directory place;
  const std::string path = place / "file";
  EXPECT_EQ(result_of(about_name(op_code::open, path, O_RDONLY)), -ENOENT);
  const int fd = result_of(about_name(op_code::open, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_GE(fd, 0);
  EXPECT_EQ(result_of(about(op_code::fsync, fd)), 0);
  EXPECT_EQ(result_of(about(op_code::fdatasync, fd)), 0);
  op_request what = about(op_code::fallocate, fd, nullptr, 90);
  what.offset = 10;
  EXPECT_EQ(result_of(what), 0);
  EXPECT_EQ(content_of(path).size(), 100U);
  EXPECT_EQ(result_of(about(op_code::ftruncate, fd, nullptr, 7)), 0);
  EXPECT_EQ(content_of(path).size(), 7U);
  struct ::statx found{};
  what = about_name(op_code::statx, path, 0, STATX_SIZE);
  what.other_address = &found;
  EXPECT_EQ(result_of(what), 0);
  EXPECT_EQ(found.stx_size, 7U);
  EXPECT_EQ(result_of(about(op_code::close, fd)), 0);
  EXPECT_EQ(result_of(about(op_code::close, fd)), -EBADF);
  for (const op_code code : {op_code::fsync, op_code::fdatasync, op_code::ftruncate})
    EXPECT_EQ(result_of(about(code, fd)), -EBADF);
}

TEST(blocking_call, handles_names) {
  const temp_directory place;
  const std::string a = place / "a";
  const std::string b = place / "b";
  const auto two = [](op_code code, const std::string& from, const std::string& to,
                      std::uint32_t flags = 0) {
    op_request what = about_name(code, from, flags);
    what.other_fd = AT_FDCWD;
    what.other_address = const_cast<char*>(to.c_str());
    return what;
  };
  std::ofstream(a) << "A";
  EXPECT_EQ(result_of(two(op_code::link, a, b)), 0);
  EXPECT_EQ(result_of(two(op_code::link, a, b)), -EEXIST);
  EXPECT_EQ(result_of(two(op_code::rename, a, b, RENAME_NOREPLACE)), -EEXIST);
  EXPECT_EQ(result_of(about_name(op_code::unlink, a)), 0);
  EXPECT_EQ(result_of(two(op_code::rename, b, a, RENAME_NOREPLACE)), 0);
  EXPECT_TRUE(exists(a) && !exists(b));
  EXPECT_EQ(result_of(two(op_code::symlink, "a", b)), 0);
  EXPECT_EQ(content_of(b), "A");
  const std::string inner = place / "inner";
  EXPECT_EQ(result_of(about_name(op_code::mkdir, inner, 0, 0700)), 0);
  EXPECT_EQ(result_of(about_name(op_code::unlink, inner)), -EISDIR);
  EXPECT_EQ(result_of(about_name(op_code::unlink, inner, AT_REMOVEDIR)), 0);
  EXPECT_FALSE(exists(inner));
}

TEST(blocking_call, waits_for_readiness) {
  pipe_pair pipe;
  std::thread writer([&] { EXPECT_EQ(::write(pipe.in(), "x", 1), 1); });
  EXPECT_EQ(result_of(skua_test::to_poll(pipe.out(), POLLIN)), POLLIN);
  writer.join();
  pipe.close_in();
  EXPECT_EQ(result_of(skua_test::to_poll(pipe.out(), POLLIN)), POLLIN | POLLHUP);
}

// poll(2) itself calls that an event; io_uring calls it an error, and so do we.
TEST(blocking_call, refuses_to_wait_for_a_descriptor_that_is_none) {
  EXPECT_EQ(result_of(skua_test::to_poll(999'999, POLLIN)), -EBADF);
}

/// Ends with that code, at once.
pid_t ended_child(int code) {
  const pid_t id = ::fork();
  if (id == 0) ::_exit(code);
  return id;
}

TEST(blocking_call, takes_the_end_of_a_child) {
  const unique_fd child(::pidfd_open(ended_child(7), 0));
  siginfo_t how{};
  op_request what = about(op_code::wait_process, child.get(), &how);
  what.flags = WEXITED;
  EXPECT_EQ(result_of(what), 0);
  EXPECT_EQ(how.si_status, 7);
  EXPECT_EQ(result_of(what), -ECHILD);
}

TEST(take_process_end, says_whether_there_is_one) {
  const pid_t id = ::fork();
  if (id == 0) {
    for (;;) ::pause();
  }
  const unique_fd child(::pidfd_open(id, 0));
  siginfo_t how{};
  op_request what = about(op_code::wait_process, child.get(), &how);
  what.flags = WEXITED;
  const noted_operation op(what);
  EXPECT_EQ(skua::take_process_end(op), -EAGAIN);
  ::kill(id, SIGKILL);
  ASSERT_EQ(result_of(skua_test::to_poll(child.get(), POLLIN)), POLLIN);
  EXPECT_EQ(skua::take_process_end(op), 0);
  EXPECT_EQ(how.si_code, CLD_KILLED);
  EXPECT_EQ(skua::take_process_end(op), -ECHILD);
}

TEST(blocking_call, waits_at_a_word) {
  std::atomic<std::uint32_t> word = 5;
  EXPECT_EQ(result_of(about(op_code::futex_wait, -1, &word, 6)), -EAGAIN);
  std::atomic<bool> over = false;
  std::thread waker([&] {
    for (; !over; std::this_thread::yield()) skua::process_futex::wake_one(word);
  });
  EXPECT_EQ(result_of(about(op_code::futex_wait, -1, &word, 5)), 0);
  over = true;
  waker.join();
}

TEST(interrupt, ends_a_wait_at_a_word_that_has_begun_or_not) {
  std::uint32_t word = 0;
  for (int i = 0; i < 20; ++i) {
    noted_operation op(about(op_code::futex_wait, -1, &word, 0));
    if (i == 0) {
      skua::interrupt(op);
      EXPECT_EQ(call_and_block(op), -ECANCELED);
      continue;
    }
    std::atomic<pid_t> id = 0;
    std::thread waiter([&] {
      id = ::gettid();
      EXPECT_EQ(call_and_block(op), -ECANCELED);
    });
    while (id == 0 || (i % 2 == 0 && !skua_test::thread_sleeps(id))) std::this_thread::yield();
    skua::interrupt(op);
    waiter.join();
  }
}

TEST(interrupt, leaves_alone_what_it_cannot_end) {
  const pipe_pair pipe;
  room<1> into;
  noted_operation op(skua_test::to_read(pipe.out(), into.span()));
  skua::interrupt(op);
  ASSERT_EQ(::write(pipe.in(), "x", 1), 1);
  EXPECT_EQ(call_and_block(op), 1);
}

void nothing(int) {}

TEST(blocking_call, is_not_ended_by_signals) {
  struct sigaction with{};
  struct sigaction before{};
  with.sa_handler = nothing;  // and no SA_RESTART
  ASSERT_EQ(::sigaction(SIGUSR1, &with, &before), 0);
  const pipe_pair pipe;
  room<1> into;
  std::atomic<pid_t> id = 0;
  std::atomic<int> got = 0;
  std::thread reader([&] {
    id = ::gettid();
    got = result_of(skua_test::to_read(pipe.out(), into.span()));
  });
  while (id == 0 || !skua_test::thread_sleeps(id)) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(::pthread_kill(reader.native_handle(), SIGUSR1), 0);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  EXPECT_EQ(got, 0) << "still waits";
  ASSERT_EQ(::write(pipe.in(), "x", 1), 1);
  reader.join();
  EXPECT_EQ(got, 1);
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
