// tests/net/tcp_stream_test.cpp: bytes, ends, resets, slow peers, stops and options of TCP streams.
#include "skua/net/tcp_stream.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"
#include "support/streams.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
using net::socket_address;
using net::tcp_listener;
using net::tcp_stream;
using skua::spawn;
using skua::task;
using skua_test::address_of;
using skua_test::bytes_of;
using skua_test::can_be_stopped;
using skua_test::error_of;
using skua_test::loopback_listener;
using skua_test::open_fds;
using skua_test::read_text;
using skua_test::read_to_end;
using skua_test::room;
using skua_test::send_text;
using skua_test::tcp_connected;
using skua_test::try_read;

class tcp_streams : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, tcp_streams, skua_test::every_kind(), skua_test::name_of_kind);

std::string much_text(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i)
    text[i] = static_cast<char>('a' + (i * 7 + (i >> 10)) % 26);
  return text;
}

TEST_P(tcp_streams, carry_bytes_both_ways) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    co_await send_text(near, "there");
    EXPECT_EQ(co_await read_text(far), "there");
    co_await send_text(far, "and back");
    EXPECT_EQ(co_await read_text(near), "and back");
    EXPECT_EQ(skua::or_throw(near.peer_address()), skua::or_throw(far.local_address()));
    EXPECT_EQ(skua::or_throw(far.peer_address()), skua::or_throw(near.local_address()));
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(tcp_streams, work_over_ipv6) {
  auto rt = start();
  auto body = []() -> task<bool> {
    auto at = tcp_listener::bind("[::1]:0");
    if (!at) co_return false;
    auto near = skua::or_throw(co_await tcp_stream::connect(address_of(*at)));
    auto far = skua::or_throw(co_await at->accept());
    co_await send_text(near, "six");
    EXPECT_EQ(co_await read_text(far), "six");
    EXPECT_TRUE(near.set_ttl(9).has_value());
    EXPECT_EQ(near.ttl().value_or(0), 9);
    co_return true;
  };
  if (!rt.block_on(body())) GTEST_SKIP() << "no IPv6 here";
}

TEST_P(tcp_streams, scatter_gather_and_look_ahead) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    std::string a = "ab";
    std::string b = "cdef";
    const std::array<iovec, 2> from = {iovec{a.data(), a.size()}, iovec{b.data(), b.size()}};
    const auto sent = co_await near.writev(from);
    EXPECT_EQ(sent.value_or(0), 6U);
    room<4> first;
    const auto seen = co_await far.peek(first.span());
    EXPECT_EQ(first.text(seen), "abcd");
    std::string c(3, ' ');
    std::string d(5, ' ');
    const std::array<iovec, 2> into = {iovec{c.data(), c.size()}, iovec{d.data(), d.size()}};
    const auto got = co_await far.readv(into);
    EXPECT_EQ(got.value_or(0), 6U);
    EXPECT_EQ(c + d, "abcdef  ");
    const std::vector<iovec> many(3'000, iovec{a.data(), 1});
    const auto some = co_await near.writev(many);
    EXPECT_EQ(some.value_or(0), 1'024U) << "the first so many count";
  };
  rt.block_on(body());
}

TEST_P(tcp_streams, wait_for_nothing_where_there_is_no_room) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    const std::vector<iovec> no_room(2);
    EXPECT_EQ((co_await skua::timeout(60s, near.read({}))).value_or(1), 0U);
    EXPECT_EQ((co_await skua::timeout(60s, near.peek({}))).value_or(1), 0U);
    EXPECT_EQ((co_await skua::timeout(60s, near.readv(no_room))).value_or(1), 0U);
  };
  rt.block_on(body());
}

TEST_P(tcp_streams, end_one_direction_and_keep_the_other) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    co_await send_text(near, "last words");
    EXPECT_TRUE((co_await near.shutdown_write()).has_value());
    EXPECT_EQ(co_await read_to_end(far), "last words");
    EXPECT_EQ(error_of(co_await near.write(bytes_of("x"))), std::errc::broken_pipe);
    co_await send_text(far, "heard");
    EXPECT_EQ(co_await read_text(near), "heard") << "half open";
    const auto closed = co_await far.close();
    EXPECT_TRUE(closed.has_value());
    EXPECT_EQ(co_await read_text(near), "");
    EXPECT_EQ(error_of(co_await far.shutdown_write()), std::errc::bad_file_descriptor);
    EXPECT_EQ(error_of(co_await try_read(far)), std::errc::bad_file_descriptor);
  };
  rt.block_on(body());
}

TEST_P(tcp_streams, are_reset_by_a_close_that_does_not_linger) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    EXPECT_TRUE(far.set_linger(skua::time_span(0s)).has_value());
    auto reader = spawn(try_read(near));
    co_await skua::sleep(1ms);
    co_await far.close();
    EXPECT_EQ(error_of(co_await std::move(reader)), std::errc::connection_reset);
    EXPECT_EQ(error_of(co_await near.write(bytes_of("x"))), std::errc::broken_pipe);
    EXPECT_EQ(error_of(near.peer_address()), std::errc::not_connected);

    auto [one, other] = co_await tcp_connected();
    EXPECT_TRUE(other.set_linger(skua::time_span(0s)).has_value());
    {
      const tcp_stream dropped = std::move(other);
    }
    EXPECT_EQ(error_of(co_await try_read(one)), std::errc::connection_reset);
  };
  rt.block_on(body());
}

task<std::size_t> writes_until_it_waits(tcp_stream& to) {
  const std::string block(65'536, 'x');
  std::size_t sent = 0;
  for (;;) {
    const auto some = co_await skua::timeout(20ms, to.write(bytes_of(block)));
    if (!some.has_value()) {
      EXPECT_EQ(error_of(some), std::errc::timed_out);
      co_return sent;
    }
    sent += *some;
  }
}

/// Stops a write, `one(to)`, that waits; gives what others have sent. The kernel asks several times
/// in a second whether there is room at the other end, and may find some though nobody reads.
template <typename Write>
task<std::size_t> sent_before_one_was_stopped(tcp_stream& to, Write one) {
  std::size_t sent = 0;
  for (;;) {
    sent += co_await writes_until_it_waits(to);
    auto running = spawn(one(to));
    co_await skua::sleep(2ms);
    running.abort();
    auto how = co_await running.outcome();
    if (how.stopped()) co_return sent;
    sent += std::move(how).value();
  }
}

TEST_P(tcp_streams, wait_for_a_slow_reader_and_lose_nothing) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    const std::string much = much_text(4 << 20);
    auto writer = spawn(
        [](tcp_stream& to, const std::string& text) -> task<> {
          co_await send_text(to, text);
          skua::or_throw(co_await to.shutdown_write());
        },
        std::ref(near), std::cref(much));
    std::string got;
    std::vector<std::byte> into(9'999);
    for (int pauses = 0;; ++pauses) {
      const std::size_t some = skua::or_throw(co_await far.read(into));
      if (some == 0) break;
      got += skua_test::text_of(std::span(into).first(some));
      if (pauses % 64 == 0) co_await skua::sleep(1ms);
    }
    co_await std::move(writer);
    EXPECT_TRUE(got == much);
  };
  rt.block_on(body());
}

TEST_P(tcp_streams, give_what_a_slow_writer_has_sent_so_far) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    auto reader = spawn([](tcp_stream& from) { return read_to_end(from); }, std::ref(far));
    for (const char* const part : {"o", "n", "e"}) {
      co_await send_text(near, part);
      co_await skua::sleep(1ms);
    }
    co_await near.shutdown_write();
    EXPECT_EQ(co_await std::move(reader), "one");
  };
  rt.block_on(body());
}

TEST_P(tcp_streams, time_out_by_a_timer_of_the_operation) {
  static_assert(skua::io_wait_like<decltype(std::declval<tcp_stream&>().read({}))>);
  static_assert(skua::io_wait_like<decltype(std::declval<tcp_stream&>().write({}))>);
  static_assert(skua::io_wait_like<decltype(std::declval<tcp_stream&>().readv({}))>);
  static_assert(skua::io_wait_like<decltype(std::declval<tcp_listener&>().accept())>);
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    room<8> into;
    const auto none = co_await skua::timeout(1ms, near.read(into.span()));
    EXPECT_EQ(error_of(none), std::errc::timed_out);
    EXPECT_GT(co_await writes_until_it_waits(near), 0U);
    tcp_listener at = loopback_listener();
    const auto nobody = co_await skua::timeout(1ms, at.accept());
    EXPECT_EQ(error_of(nobody), std::errc::timed_out);
    co_await send_text(far, "still here");
    EXPECT_EQ(co_await read_text(near), "still here");
  };
  rt.block_on(body());
}

TEST_P(tcp_streams, lose_nothing_when_a_task_is_stopped) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    EXPECT_TRUE(co_await can_be_stopped(read_text(near)));
    auto looks = [](tcp_stream& from) -> task<> {
      room<8> into;
      co_await from.peek(into.span());
    };
    EXPECT_TRUE(co_await can_be_stopped(looks(near)));
    auto scatters = [](tcp_stream& from) -> task<> {
      char byte = 0;
      const std::array<iovec, 1> into = {iovec{&byte, 1}};
      co_await from.readv(into);
    };
    EXPECT_TRUE(co_await can_be_stopped(scatters(near)));
    co_await send_text(far, "all of it");
    EXPECT_EQ(co_await read_text(near), "all of it");

    auto writes = [](tcp_stream& to) -> task<std::size_t> {
      co_return skua::or_throw(co_await to.write(bytes_of("never sent")));
    };
    auto gathers = [](tcp_stream& to) -> task<std::size_t> {
      char byte = 0;
      const std::array<iovec, 1> from = {iovec{&byte, 1}};
      co_return skua::or_throw(co_await to.writev(from));
    };
    auto writes_all = [](tcp_stream& to) -> task<std::size_t> {
      constexpr std::string_view text = "nor this";
      co_await send_text(to, text);
      co_return text.size();
    };
    std::size_t sent = co_await sent_before_one_was_stopped(near, writes);
    sent += co_await sent_before_one_was_stopped(near, gathers);
    sent += co_await sent_before_one_was_stopped(near, writes_all);
    co_await near.shutdown_write();
    const std::string got = co_await read_to_end(far);
    EXPECT_EQ(got.size(), sent) << "nothing was sent by those that were stopped";
  };
  rt.block_on(body());
}

TEST_P(tcp_streams, have_options) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    EXPECT_FALSE(near.nodelay().value_or(true));
    EXPECT_TRUE(near.set_nodelay(true).has_value());
    EXPECT_TRUE(near.nodelay().value_or(false));

    EXPECT_FALSE(near.is_kept_alive().value_or(true));
    const auto how = net::keepalive().idle(1500ms).interval(7s).count(3);
    EXPECT_TRUE(near.set_keepalive(how).has_value());
    EXPECT_TRUE(near.is_kept_alive().value_or(false));
    for (const auto& [name, expected] :
         {std::pair(TCP_KEEPIDLE, 2), std::pair(TCP_KEEPINTVL, 7), std::pair(TCP_KEEPCNT, 3)}) {
      int value = 0;
      socklen_t size = sizeof value;
      EXPECT_EQ(::getsockopt(near.get(), IPPROTO_TCP, name, &value, &size), 0);
      EXPECT_EQ(value, expected);
    }
    EXPECT_TRUE(near.set_keepalive(false).has_value());
    EXPECT_FALSE(near.is_kept_alive().value_or(true));

    EXPECT_FALSE(near.linger().value().has_value());
    EXPECT_TRUE(near.set_linger(skua::time_span(2500ms)).has_value());
    EXPECT_EQ(near.linger().value(), skua::time_span(3s));
    EXPECT_TRUE(near.set_linger({}).has_value());
    EXPECT_FALSE(near.linger().value().has_value());

    EXPECT_TRUE(near.set_ttl(5).has_value());
    EXPECT_EQ(near.ttl().value_or(0), 5);
    EXPECT_EQ(error_of(near.set_ttl(1'000)), std::errc::invalid_argument);

    EXPECT_TRUE(near.set_send_buffer_size(32'768).has_value());
    EXPECT_EQ(near.send_buffer_size().value_or(0), 65'536U);
    EXPECT_TRUE(near.set_receive_buffer_size(16'384).has_value());
    EXPECT_EQ(near.receive_buffer_size().value_or(0), 32'768U);
  };
  rt.block_on(body());
}

TEST_P(tcp_streams, are_made_of_raw_descriptors_and_give_them_out) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    skua::unique_fd raw = near.release();
    EXPECT_EQ(near.get(), -1);
    EXPECT_EQ(error_of(co_await try_read(near)), std::errc::bad_file_descriptor);
    EXPECT_NE(::fcntl(raw.get(), F_GETFD) & FD_CLOEXEC, 0);
    ::fcntl(raw.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(raw.get(), F_SETFD, 0);
    auto again = skua::or_throw(tcp_stream::from_descriptor(std::move(raw)));
    EXPECT_NE(::fcntl(again.get(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(::fcntl(again.get(), F_GETFL) & O_NONBLOCK, 0);
    co_await send_text(far, "the same");
    EXPECT_EQ(co_await read_text(again), "the same");

    skua_test::pipe_pair pipe;
    EXPECT_EQ(error_of(tcp_stream::from_descriptor(pipe.take_in())), std::errc::not_a_socket);
    skua_test::socket_pair local;
    EXPECT_EQ(error_of(tcp_stream::from_descriptor(skua::unique_fd(::dup(local.first())))),
              std::errc::address_family_not_supported);
    auto datagrams = skua::or_throw(net::udp_socket::bind("127.0.0.1:0"));
    EXPECT_EQ(error_of(tcp_stream::from_descriptor(datagrams.release())),
              std::errc::wrong_protocol_type);
    EXPECT_EQ(error_of(tcp_stream::from_descriptor(skua::unique_fd())),
              std::errc::bad_file_descriptor);
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(tcp_streams, can_be_limited_in_their_silence) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    net::idle_limited quiet(std::move(near), 5ms);
    EXPECT_EQ(error_of(co_await try_read(quiet)), std::errc::timed_out);
    co_await send_text(far, "word");
    net::idle_limited patient(quiet.take(), 60s);
    EXPECT_EQ(co_await read_text(patient), "word");
    co_await send_text(patient, "answer");
    EXPECT_EQ(co_await read_text(far), "answer");
    net::idle_limited blocked(patient.take(), 5ms);
    const std::string much(16 << 20, 'x');
    EXPECT_EQ(error_of(co_await blocked.write_all(bytes_of(much))), std::errc::timed_out);
    EXPECT_NE(blocked.stream().get(), -1);
  };
  rt.block_on(body());
}

TEST_P(tcp_streams, read_lines) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [near, far] = co_await tcp_connected();
    co_await send_text(near, "one\ntwo\r\nthree");
    co_await near.shutdown_write();
    skua::framed lines(far, skua::framing::lines());
    std::vector<std::string> got;
    for (;;) {
      const auto line = skua::or_throw(co_await lines.next());
      if (!line) break;
      got.emplace_back(line->text());
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "two", "three"}));
  };
  rt.block_on(body());
}

}  // namespace
