// tests/io/socket_test.cpp: connections, messages, descriptors and the ends of all of them.
#include "skua/io/socket.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::spawn;
using skua::task;
using skua::unique_fd;
using skua_test::address;
using skua_test::bytes_of;
using skua_test::error_of;
using skua_test::listener;
using skua_test::new_socket;
using skua_test::open_fds;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::socket_pair;
using skua_test::tcp_pair;

class sockets : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, sockets, skua_test::every_kind(), skua_test::name_of_kind);

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>(i * 131 + (i >> 8));
  return made;
}

task<std::string> received(int fd) {
  room<32> into;
  const auto got = co_await io::recv(fd, into.span());
  co_return into.text(got);
}

/// All of it, and nothing behind it.
task<std::vector<std::byte>> received(int fd, std::size_t size) {
  std::vector<std::byte> into(size);
  std::size_t got = 0;
  while (got < size) {
    const std::size_t more = skua::or_throw(co_await io::recv(fd, std::span(into).subspan(got)));
    EXPECT_GT(more, 0U);
    if (more == 0) break;
    got += more;
  }
  co_return into;
}

TEST_P(sockets, send_and_receive) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair local;
    const tcp_pair remote;
    const auto sent = co_await io::send(local.first(), bytes_of("near"));
    EXPECT_EQ(sent.value_or(0), 4U);
    EXPECT_EQ(co_await received(local.second()), "near");
    co_await io::send(remote.second(), bytes_of("far"));
    EXPECT_EQ(co_await received(remote.first()), "far");
  };
  rt.block_on(body());
}

TEST_P(sockets, receive_what_comes_later) {
  auto rt = start();
  auto body = []() -> task<> {
    const tcp_pair pair;
    auto receiver = spawn(received(pair.first()));
    co_await skua::sleep(2ms);
    EXPECT_FALSE(receiver.done());
    co_await io::send(pair.second(), bytes_of("later"));
    EXPECT_EQ(co_await std::move(receiver), "later");
  };
  rt.block_on(body());
}

TEST_P(sockets, heed_the_flags_of_a_message) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair pair;
    co_await io::send(pair.first(), bytes_of("abc"));
    room<8> into;
    const auto peeked = co_await io::recv(pair.second(), into.span(), MSG_PEEK);
    EXPECT_EQ(into.text(peeked), "abc");
    EXPECT_EQ(co_await received(pair.second()), "abc") << "only looked at before";
    const auto none = co_await io::recv(pair.second(), into.span(), MSG_DONTWAIT);
    EXPECT_EQ(error_of(none), std::errc::resource_unavailable_try_again);
  };
  rt.block_on(body());
}

TEST_P(sockets, scatter_and_gather_a_message) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair pair;
    std::string a = "ab";
    std::string b = "cdef";
    std::array<iovec, 2> from = {iovec{a.data(), a.size()}, iovec{b.data(), b.size()}};
    msghdr out{};
    out.msg_iov = from.data();
    out.msg_iovlen = from.size();
    const auto sent = co_await io::sendmsg(pair.first(), out);
    EXPECT_EQ(sent.value_or(0), 6U);
    std::string c(4, ' ');
    std::string d(4, ' ');
    std::array<iovec, 2> into = {iovec{c.data(), c.size()}, iovec{d.data(), d.size()}};
    msghdr in{};
    in.msg_iov = into.data();
    in.msg_iovlen = into.size();
    const auto got = co_await io::recvmsg(pair.second(), in);
    EXPECT_EQ(got.value_or(0), 6U);
    EXPECT_EQ(c + d, "abcdef  ");
  };
  rt.block_on(body());
}

/// A message of one byte, with room for one descriptor.
class passing {
public:
  passing() {
    header_.msg_iov = &text_;
    header_.msg_iovlen = 1;
    header_.msg_control = control_.data();
    header_.msg_controllen = control_.size();
  }
  passing(const passing&) = delete;
  passing& operator=(const passing&) = delete;

  void put(int fd) {
    cmsghdr* const first = CMSG_FIRSTHDR(&header_);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(first), &fd, sizeof fd);
  }
  [[nodiscard]] unique_fd take() {
    cmsghdr* const first = CMSG_FIRSTHDR(&header_);
    if (first == nullptr || first->cmsg_type != SCM_RIGHTS) return {};
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(first), sizeof fd);
    return unique_fd(fd);
  }
  [[nodiscard]] msghdr& get() { return header_; }

private:
  char byte_ = '!';
  iovec text_{&byte_, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control_{};
  msghdr header_{};
};

TEST_P(sockets, pass_descriptors_on) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair pair;
    pipe_pair pipe;
    passing out;
    out.put(pipe.in());
    const auto sent = co_await io::sendmsg(pair.first(), out.get());
    EXPECT_EQ(sent.value_or(0), 1U);
    pipe.close_in();
    passing in;
    const auto got = co_await io::recvmsg(pair.second(), in.get(), MSG_CMSG_CLOEXEC);
    EXPECT_EQ(got.value_or(0), 1U);
    const unique_fd passed = in.take();
    EXPECT_TRUE(passed);
    co_await io::write(passed.get(), bytes_of("through"));
    room<16> into;
    const auto read = co_await io::read(pipe.out(), into.span());
    EXPECT_EQ(into.text(read), "through");
  };
  rt.block_on(body());
}

TEST_P(sockets, keep_datagrams_apart) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair pair(SOCK_DGRAM | SOCK_CLOEXEC);
    co_await io::send(pair.first(), bytes_of("one"));
    co_await io::send(pair.first(), bytes_of("second"));
    EXPECT_EQ(co_await received(pair.second()), "one");
    room<3> into;
    const auto cut = co_await io::recv(pair.second(), into.span());
    EXPECT_EQ(into.text(cut), "sec") << "the rest is lost, as with any datagram";
    const auto none = co_await skua::timeout(1ms, io::recv(pair.second(), into.span()));
    EXPECT_EQ(error_of(none), std::errc::timed_out);
  };
  rt.block_on(body());
}

TEST_P(sockets, tell_where_a_datagram_came_from) {
  auto rt = start();
  auto body = []() -> task<> {
    const unique_fd a = new_socket(AF_INET, SOCK_DGRAM);
    const unique_fd b = new_socket(AF_INET, SOCK_DGRAM);
    for (const unique_fd* const one : {&a, &b}) {
      address any = address::loopback();
      EXPECT_EQ(::bind(one->get(), any.get(), any.length), 0);
    }
    address target = address::of(b.get());
    char byte = 'q';
    iovec text{&byte, 1};
    msghdr out{};
    out.msg_name = target.get();
    out.msg_namelen = target.length;
    out.msg_iov = &text;
    out.msg_iovlen = 1;
    const auto sent = co_await io::sendmsg(a.get(), out);
    EXPECT_EQ(sent.value_or(0), 1U);
    address source;
    msghdr in = out;
    in.msg_name = source.get();
    in.msg_namelen = source.length;
    const auto got = co_await io::recvmsg(b.get(), in);
    EXPECT_EQ(got.value_or(0), 1U);
    EXPECT_EQ(source.port(), address::of(a.get()).port());
  };
  rt.block_on(body());
}

TEST_P(sockets, of_no_length_move_nothing) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair pair;
    const auto sent = co_await io::send(pair.first(), {});
    EXPECT_EQ(sent.value_or(9), 0U);
    co_await io::send(pair.first(), bytes_of("x"));
    const auto got = co_await io::recv(pair.second(), {});
    EXPECT_EQ(got.value_or(9), 0U);
    EXPECT_EQ(co_await received(pair.second()), "x");
    const socket_pair datagrams(SOCK_DGRAM | SOCK_CLOEXEC);
    co_await io::send(datagrams.first(), {});
    EXPECT_EQ(co_await received(datagrams.second()), "") << "it came, with nothing in it";
  };
  rt.block_on(body());
}

TEST_P(sockets, refuse_descriptors_that_are_none) {
  auto rt = start();
  auto body = []() -> task<> {
    room<4> into;
    msghdr empty{};
    address to = address::loopback(1);
    pipe_pair pipe;
    for (const int fd : {-1, 999'999}) {
      constexpr auto bad = std::errc::bad_file_descriptor;
      EXPECT_EQ(error_of(co_await io::recv(fd, into.span())), bad);
      EXPECT_EQ(error_of(co_await io::send(fd, bytes_of("x"))), bad);
      EXPECT_EQ(error_of(co_await io::send_zero_copy(fd, bytes_of("x"))), bad);
      EXPECT_EQ(error_of(co_await io::recvmsg(fd, empty)), bad);
      EXPECT_EQ(error_of(co_await io::sendmsg(fd, empty)), bad);
      EXPECT_EQ(error_of(co_await io::accept(fd)), bad);
      EXPECT_EQ(error_of(co_await io::connect(fd, to.get(), to.length)), bad);
      EXPECT_EQ(error_of(co_await io::shutdown(fd, SHUT_RD)), bad);
    }
    constexpr auto no_socket = std::errc::not_a_socket;
    EXPECT_EQ(error_of(co_await io::recv(pipe.out(), into.span())), no_socket);
    EXPECT_EQ(error_of(co_await io::send(pipe.in(), bytes_of("x"))), no_socket);
    EXPECT_EQ(error_of(co_await io::recvmsg(pipe.out(), empty)), no_socket);
    EXPECT_EQ(error_of(co_await io::sendmsg(pipe.in(), empty)), no_socket);
    EXPECT_EQ(error_of(co_await io::accept(pipe.out())), no_socket);
    EXPECT_EQ(error_of(co_await io::connect(pipe.in(), to.get(), to.length)), no_socket);
    EXPECT_EQ(error_of(co_await io::shutdown(pipe.in(), SHUT_RD)), no_socket);
  };
  rt.block_on(body());
}

TEST_P(sockets, fail_without_a_signal_when_the_other_side_is_gone) {
  auto rt = start();
  auto body = []() -> task<> {
    socket_pair pair;
    pair.close_second();
    const auto sent = co_await io::send(pair.first(), bytes_of("x"));
    EXPECT_EQ(error_of(sent), std::errc::broken_pipe);
    char byte = 'x';
    iovec text{&byte, 1};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    const auto message_sent = co_await io::sendmsg(pair.first(), message);
    EXPECT_EQ(error_of(message_sent), std::errc::broken_pipe);

    tcp_pair far;
    far.close_second();
    // The first one may still go out; the answer to it says that nobody is there.
    skua::result<std::size_t> last = 0;
    for (int i = 0; i < 60'000 && last.has_value(); ++i) {
      last = co_await io::send(far.first(), bytes_of("x"));
      if (last.has_value()) co_await skua::sleep(1ms);
    }
    EXPECT_FALSE(last.has_value());
    const bool gone = !last.has_value() && (last.error() == std::errc::broken_pipe ||
                                            last.error() == std::errc::connection_reset);
    EXPECT_TRUE(gone) << error_of(last).message();
    const auto again = co_await io::send_zero_copy(far.first(), bytes_of("x"));
    EXPECT_EQ(error_of(again), std::errc::broken_pipe);
  };
  rt.block_on(body());
}

TEST_P(sockets, end_a_pending_receive_when_they_are_shut_down) {
  auto rt = start();
  auto body = []() -> task<> {
    const tcp_pair pair;
    const socket_pair local;
    for (const auto& [mine, other] :
         {std::pair(pair.first(), pair.second()), std::pair(local.first(), local.second())}) {
      auto from_here = spawn(received(mine));
      auto from_there = spawn(received(other));
      co_await skua::sleep(1ms);
      const auto done = co_await io::shutdown(mine, SHUT_RDWR);
      EXPECT_TRUE(done.has_value());
      EXPECT_EQ(co_await std::move(from_here), "");
      EXPECT_EQ(co_await std::move(from_there), "");
    }
  };
  rt.block_on(body());
}

TEST_P(sockets, end_one_direction_and_keep_the_other) {
  auto rt = start();
  auto body = []() -> task<> {
    const tcp_pair pair;
    co_await io::send(pair.first(), bytes_of("last"));
    const auto done = co_await io::shutdown(pair.first(), SHUT_WR);
    EXPECT_TRUE(done.has_value());
    EXPECT_EQ(co_await received(pair.second()), "last");
    EXPECT_EQ(co_await received(pair.second()), "");
    co_await io::send(pair.second(), bytes_of("answer"));
    EXPECT_EQ(co_await received(pair.first()), "answer");
    const auto sent = co_await io::send(pair.first(), bytes_of("x"));
    EXPECT_EQ(error_of(sent), std::errc::broken_pipe);
    const auto odd = co_await io::shutdown(pair.first(), 77);
    EXPECT_EQ(error_of(odd), std::errc::invalid_argument);
    const unique_fd lonely = new_socket(AF_INET);
    const auto early = co_await io::shutdown(lonely.get(), SHUT_RDWR);
    EXPECT_EQ(error_of(early), std::errc::not_connected);
  };
  rt.block_on(body());
}

task<> send_all(int fd, std::span<const std::byte> from) {
  while (!from.empty()) {
    const std::size_t some = skua::or_throw(co_await io::send(fd, from));
    EXPECT_GT(some, 0U);
    from = from.subspan(some);
  }
}

TEST_P(sockets, send_on_when_there_is_room_again) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair local;
    const tcp_pair remote;
    const std::vector<std::byte> much = pattern(4 << 20);
    for (const auto& [from, to] :
         {std::pair(local.first(), local.second()), std::pair(remote.first(), remote.second())}) {
      const int room = 65'536;  // those of TCP would grow to more than that, in time
      EXPECT_EQ(::setsockopt(from, SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
      EXPECT_EQ(::setsockopt(to, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
      auto sender = spawn(send_all(from, much));
      co_await skua::sleep(1ms);
      EXPECT_FALSE(sender.done()) << "no buffer is that large";
      EXPECT_TRUE(co_await received(to, much.size()) == much);
      co_await std::move(sender);
    }
  };
  rt.block_on(body());
}

}  // namespace
