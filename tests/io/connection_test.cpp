// tests/io/connection_test.cpp: accept, connect, sends without a copy, and the patience of each.
#include "skua/io/socket.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
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
using skua_test::room;
using skua_test::socket_pair;
using skua_test::tcp_pair;

class connections : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, connections, skua_test::every_kind(), skua_test::name_of_kind);

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>(i * 131 + (i >> 8));
  return made;
}

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

TEST_P(connections, are_accepted_in_blocking_mode_and_not_inherited) {
  auto rt = start();
  auto body = []() -> task<> {
    listener at;
    const unique_fd other = at.connected();
    const unique_fd mine = skua::or_throw(co_await io::accept(at.fd()));
    EXPECT_EQ(::fcntl(mine.get(), F_GETFD), FD_CLOEXEC);
    co_await io::send(other.get(), bytes_of("hi"));
    room<4> into;
    const auto got = co_await io::recv(mine.get(), into.span());
    EXPECT_EQ(into.text(got), "hi");
  };
  rt.block_on(body());
}

TEST_P(connections, are_accepted_with_the_address_of_the_other_side) {
  auto rt = start();
  auto body = []() -> task<> {
    listener at;
    const unique_fd other = at.connected();
    address from;
    const unique_fd mine = skua::or_throw(co_await io::accept(at.fd(), from.get(), &from.length));
    EXPECT_EQ(from.length, sizeof(sockaddr_in));
    EXPECT_EQ(from.family(), AF_INET);
    EXPECT_EQ(from.port(), address::of(other.get()).port());
  };
  rt.block_on(body());
}

task<> accept_all(int fd, int count) {
  std::vector<unique_fd> all;
  for (int i = 0; i < count; ++i) all.push_back(skua::or_throw(co_await io::accept(fd)));
}

task<> connect_once(address to) {
  const unique_fd mine = new_socket(to.family());
  const auto done = co_await io::connect(mine.get(), to.get(), to.length);
  EXPECT_TRUE(done.has_value()) << done.error().message();
}

TEST_P(connections, come_by_the_hundred) {
  auto rt = start();
  const std::size_t before = open_fds();
  auto body = []() -> task<> {
    listener at;
    constexpr int each = 50;
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 4; ++i) all.push_back(spawn(accept_all(at.fd(), each)));
    for (int i = 0; i < 4 * each; ++i) all.push_back(spawn(connect_once(at.at())));
    for (auto& one : all) co_await std::move(one);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(connections, are_made_to_names_of_this_machine) {
  auto rt = start();
  auto body = []() -> task<> {
    listener at(address::unnamed());
    const unique_fd mine = new_socket(AF_UNIX);
    const auto done = co_await io::connect(mine.get(), at.at().get(), at.at().length);
    EXPECT_TRUE(done.has_value()) << done.error().message();
    const unique_fd other = skua::or_throw(co_await io::accept(at.fd()));
    co_await io::send(mine.get(), bytes_of("local"));
    room<8> into;
    const auto got = co_await io::recv(other.get(), into.span());
    EXPECT_EQ(into.text(got), "local");
  };
  rt.block_on(body());
}

TEST_P(connections, are_refused_where_nobody_listens) {
  auto rt = start();
  auto body = []() -> task<> {
    const unique_fd taken = new_socket(AF_INET);  // so that no other process listens there
    address any = address::loopback();
    EXPECT_EQ(::bind(taken.get(), any.get(), any.length), 0);
    address nobody = address::of(taken.get());
    const unique_fd mine = new_socket(AF_INET);
    const auto done = co_await io::connect(mine.get(), nobody.get(), nobody.length);
    EXPECT_EQ(error_of(done), std::errc::connection_refused);
    const unique_fd twice = new_socket(AF_INET);
    listener at;
    co_await io::connect(twice.get(), at.at().get(), at.at().length);
    const auto again = co_await io::connect(twice.get(), at.at().get(), at.at().length);
    EXPECT_EQ(error_of(again), std::errc::already_connected);
    const auto no_length = co_await io::connect(new_socket(AF_INET).get(), at.at().get(), 1);
    EXPECT_EQ(error_of(no_length), std::errc::invalid_argument);
    const auto no_listener = co_await io::accept(twice.get());
    EXPECT_EQ(error_of(no_listener), std::errc::invalid_argument);
  };
  rt.block_on(body());
}

/// No more fit in: whoever connects now waits.
class full_listener : public listener {
public:
  full_listener() : listener(address::loopback(), 0), in_the_way_(fd()) {}

private:
  skua_test::full_queue in_the_way_;
};

TEST_P(connections, time_out_when_they_come_to_nothing) {
  auto rt = start();
  auto body = []() -> task<> {
    full_listener at;
    const unique_fd mine = new_socket(AF_INET);
    const auto done =
        co_await skua::timeout(5ms, io::connect(mine.get(), at.at().get(), at.at().length));
    EXPECT_EQ(error_of(done), std::errc::timed_out);
  };
  rt.block_on(body());
}

TEST_P(connections, that_nobody_made_in_time_are_accepted_later) {
  auto rt = start();
  auto body = []() -> task<> {
    listener at;
    for (const auto length : {3ms, 0ms, -1ms}) {
      const auto none = co_await skua::timeout(length, io::accept(at.fd()));
      EXPECT_EQ(error_of(none), std::errc::timed_out);
    }
    const unique_fd other = at.connected();
    const auto mine = co_await skua::timeout(10s, io::accept(at.fd()));
    EXPECT_TRUE(mine.has_value());
  };
  rt.block_on(body());
}

TEST_P(connections, lose_no_bytes_when_a_receive_times_out) {
  auto rt = start();
  auto body = []() -> task<> {
    const tcp_pair pair;
    room<8> into;
    char text[8] = {};
    iovec part{text, sizeof text};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    for (const auto length : {3ms, 0ms, -1ms}) {
      const auto got = co_await skua::timeout(length, io::recv(pair.first(), into.span()));
      EXPECT_EQ(error_of(got), std::errc::timed_out);
      const auto whole = co_await skua::timeout(length, io::recvmsg(pair.first(), message));
      EXPECT_EQ(error_of(whole), std::errc::timed_out);
    }
    co_await io::send(pair.second(), bytes_of("one"));
    const auto got = co_await skua::timeout(10s, io::recv(pair.first(), into.span()));
    EXPECT_EQ(into.text(got), "one");
    co_await io::send(pair.second(), bytes_of("two"));
    const auto whole = co_await skua::timeout(10s, io::recvmsg(pair.first(), message));
    EXPECT_EQ(whole.value_or(0), 3U);
    EXPECT_EQ(std::string(text), "two");
  };
  rt.block_on(body());
}

/// Sends until no more fits in, and says how much did.
task<std::size_t> fill(int fd, std::span<const std::byte> with) {
  std::size_t sent = 0;
  for (;;) {
    const auto some = co_await io::send(fd, with.first(1'000), MSG_DONTWAIT);
    if (!some) break;
    sent += *some;
  }
  co_return sent;
}

TEST_P(connections, send_nothing_when_a_send_times_out) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair pair;
    const std::vector<std::byte> bytes = pattern(1'000);
    const std::size_t sent = co_await fill(pair.first(), bytes);
    std::vector<std::byte> other = bytes;
    iovec part{other.data(), other.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    for (const auto length : {3ms, 0ms}) {
      const auto more = co_await skua::timeout(length, io::send(pair.first(), bytes));
      EXPECT_EQ(error_of(more), std::errc::timed_out);
      const auto whole = co_await skua::timeout(length, io::sendmsg(pair.first(), message));
      EXPECT_EQ(error_of(whole), std::errc::timed_out);
    }
    co_await received(pair.second(), sent);
    room<4> into;
    const auto none = co_await io::recv(pair.second(), into.span(), MSG_DONTWAIT);
    EXPECT_EQ(error_of(none), std::errc::resource_unavailable_try_again);
    const auto now = co_await skua::timeout(10s, io::send(pair.first(), bytes));
    EXPECT_EQ(now.value_or(0), bytes.size());
  };
  rt.block_on(body());
}

// The kernel tells twice of such a send: that it was sent, and that the bytes are free.
task<std::size_t> send_zero_copy(int fd, std::span<const std::byte> from, std::atomic<int>& turns) {
  std::size_t sent = 0;
  while (sent < from.size()) {
    sent += skua::or_throw(co_await io::send_zero_copy(fd, from.subspan(sent)));
    ++turns;
  }
  co_return sent;
}

TEST_P(connections, send_without_a_copy) {
  auto rt = start();
  auto body = []() -> task<> {
    const tcp_pair pair;
    const std::vector<std::byte> much = pattern(2 << 20);
    std::atomic<int> turns = 0;
    auto sender = spawn(send_zero_copy(pair.first(), much, turns));
    EXPECT_TRUE(co_await received(pair.second(), much.size()) == much);
    EXPECT_EQ(co_await std::move(sender), much.size());
    EXPECT_GT(turns, 0);
  };
  rt.block_on(body());
}

// One that was resumed by both completions would count twice, or die.
TEST_P(connections, go_on_once_after_a_send_without_a_copy) {
  auto rt = start();
  auto body = []() -> task<> {
    const tcp_pair pair;
    const std::vector<std::byte> some = pattern(50'000);
    auto sends = [](int fd, std::span<const std::byte> from, int times) -> task<int> {
      int resumed = 0;
      for (int i = 0; i < times; ++i) {
        std::atomic<int> turns = 0;
        EXPECT_EQ(co_await send_zero_copy(fd, from, turns), from.size());
        ++resumed;
        co_await skua::yield();
      }
      co_return resumed;
    };
    constexpr int times = 50;
    auto sender = spawn(sends(pair.first(), some, times));
    for (int i = 0; i < times; ++i)
      EXPECT_TRUE(co_await received(pair.second(), some.size()) == some);
    EXPECT_EQ(co_await std::move(sender), times);
  };
  rt.block_on(body());
}

// Overwritten as soon as the send has ended: the other side must have what was there before.
TEST_P(connections, need_the_bytes_no_more_when_a_send_without_a_copy_has_ended) {
  auto rt = start();
  auto body = []() -> task<> {
    const tcp_pair pair;
    constexpr std::size_t size = 30'000;
    auto sends = [](int fd) -> task<> {
      std::vector<std::byte> bytes(size);
      for (int i = 1; i <= 20; ++i) {
        std::ranges::fill(bytes, static_cast<std::byte>(i));
        std::atomic<int> turns = 0;
        co_await send_zero_copy(fd, bytes, turns);
      }
    };
    auto sender = spawn(sends(pair.first()));
    for (int i = 1; i <= 20; ++i) {
      const std::vector<std::byte> expected(size, static_cast<std::byte>(i));
      EXPECT_TRUE(co_await received(pair.second(), size) == expected);
    }
    co_await std::move(sender);
  };
  rt.block_on(body());
}

TEST_P(connections, send_with_a_copy_where_there_is_no_other_way) {
  auto rt = start();
  auto body = []() -> task<> {
    const socket_pair pair;
    const auto sent = co_await io::send_zero_copy(pair.first(), bytes_of("copied"));
    EXPECT_TRUE(sent.has_value()) << sent.error().message();
    if (!sent) co_return;
    EXPECT_EQ(*sent, 6U);
    room<8> into;
    const auto got = co_await io::recv(pair.second(), into.span());
    EXPECT_EQ(into.text(got), "copied");
  };
  rt.block_on(body());
}

TEST_P(connections, time_out_when_a_send_without_a_copy_has_no_room) {
  auto rt = start();
  auto body = []() -> task<> {
    const tcp_pair pair;
    const std::vector<std::byte> bytes = pattern(100'000);
    std::size_t sent = co_await fill(pair.first(), bytes);
    const auto more = co_await skua::timeout(5ms, io::send_zero_copy(pair.first(), bytes));
    // A little room may be left behind a send of so many bytes.
    if (more) {
      sent += *more;
    } else {
      EXPECT_EQ(error_of(more), std::errc::timed_out);
    }
    co_await received(pair.second(), sent);
    co_await io::shutdown(pair.first(), SHUT_WR);
    room<4> into;
    const auto rest = co_await io::recv(pair.second(), into.span());
    EXPECT_EQ(rest.value_or(9), 0U) << "no more than it said";
  };
  rt.block_on(body());
}

}  // namespace
