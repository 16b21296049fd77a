// tests/net/udp_socket_test.cpp: datagrams over UDP: whole, cut, refused, to one and to many.
#include "skua/net/udp_socket.hpp"

#include "skua/skua.hpp"
#include "support/bound_socket.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/streams.hpp"

#include <gtest/gtest.h>
#include <net/if.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
using net::ip_address;
using net::socket_address;
using net::udp_socket;
using skua::spawn;
using skua::task;
using skua_test::address_of;
using skua_test::bytes_of;
using skua_test::can_be_stopped;
using skua_test::error_of;
using skua_test::open_fds;
using skua_test::room;
using skua_test::text_of;

class udp_sockets : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, udp_sockets, skua_test::every_kind(), skua_test::name_of_kind);

udp_socket on_loopback() {
  return skua::or_throw(udp_socket::bind("127.0.0.1:0"));
}

task<std::string> received(udp_socket& from) {
  room<64> into;
  const auto got = skua::or_throw(co_await from.recv_from(into.span()));
  EXPECT_FALSE(got.truncated());
  co_return text_of(into.span().first(got.size()));
}

TEST_P(udp_sockets, tell_who_sent_a_datagram) {
  auto rt = start();
  auto body = []() -> task<> {
    udp_socket a = on_loopback();
    udp_socket b = on_loopback();
    skua::or_throw(co_await a.send_to(bytes_of("ping"), address_of(b)));
    room<64> into;
    const auto got = skua::or_throw(co_await b.recv_from(into.span()));
    EXPECT_EQ(text_of(into.span().first(got.size())), "ping");
    EXPECT_EQ(got.from(), address_of(a));
    skua::or_throw(co_await b.send_to(bytes_of("pong"), got.from()));
    EXPECT_EQ(co_await received(a), "pong");
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(udp_sockets, tell_that_a_datagram_was_cut) {
  auto rt = start();
  auto body = []() -> task<> {
    udp_socket a = on_loopback();
    udp_socket b = on_loopback();
    room<4> little;
    skua::or_throw(co_await a.send_to(bytes_of("too long"), address_of(b)));
    const auto cut = skua::or_throw(co_await b.recv_from(little.span()));
    EXPECT_TRUE(cut.truncated());
    EXPECT_EQ(cut.size(), 4U);
    EXPECT_EQ(cut.sent_size(), 8U);
    EXPECT_EQ(text_of(little.span().first(cut.size())), "too ");
    skua::or_throw(co_await a.send_to(bytes_of("four"), address_of(b)));
    const auto whole = skua::or_throw(co_await b.recv_from(little.span()));
    EXPECT_FALSE(whole.truncated());
    EXPECT_EQ(whole.size(), 4U);
    skua::or_throw(co_await a.send_to({}, address_of(b)));
    const auto empty = skua::or_throw(co_await b.recv_from(little.span()));
    EXPECT_EQ(empty.size(), 0U);
    EXPECT_EQ(empty.from(), address_of(a)) << "of no bytes, and a datagram";
  };
  rt.block_on(body());
}

TEST_P(udp_sockets, talk_to_one_when_connected) {
  auto rt = start();
  auto body = []() -> task<> {
    udp_socket a = on_loopback();
    udp_socket b = on_loopback();
    udp_socket stranger = on_loopback();
    EXPECT_EQ(error_of(co_await a.send(bytes_of("x"))), std::errc::destination_address_required);
    EXPECT_TRUE(a.connect(address_of(b)).has_value());
    EXPECT_EQ(skua::or_throw(a.peer_address()), address_of(b));
    skua::or_throw(co_await a.send(bytes_of("to you")));
    EXPECT_EQ(co_await received(b), "to you");
    skua::or_throw(co_await stranger.send_to(bytes_of("spam"), address_of(a)));
    skua::or_throw(co_await b.send_to(bytes_of("to me"), address_of(a)));
    room<16> into;
    const auto got = co_await a.recv(into.span());
    EXPECT_EQ(into.text(got), "to me") << "and not what the stranger sent";
    skua::or_throw(co_await b.send_to(bytes_of("much longer than that"), address_of(a)));
    EXPECT_EQ(error_of(co_await a.recv(into.span())), std::errc::message_size);
  };
  rt.block_on(body());
}

TEST_P(udp_sockets, hear_that_nobody_is_there) {
  auto rt = start();
  auto body = []() -> task<> {
    udp_socket a = on_loopback();
    const skua_test::deaf_socket nobody(ip_address::v4_loopback());
    EXPECT_TRUE(a.connect(nobody.address).has_value());
    skua::or_throw(co_await a.send(bytes_of("anybody?")));
    room<16> into;
    const auto got = co_await skua::timeout(60s, a.recv(into.span()));
    EXPECT_EQ(error_of(got), std::errc::connection_refused);
  };
  rt.block_on(body());
}

TEST_P(udp_sockets, lose_nothing_when_a_task_is_stopped_or_out_of_time) {
  auto rt = start();
  auto body = []() -> task<> {
    udp_socket a = on_loopback();
    udp_socket b = on_loopback();
    EXPECT_TRUE(co_await can_be_stopped(received(b)));
    auto receives = [](udp_socket& from) -> task<> {
      room<8> into;
      co_await from.recv(into.span());
    };
    EXPECT_TRUE(co_await can_be_stopped(receives(b)));
    room<8> into;
    const auto late = co_await skua::timeout(1ms, b.recv_from(into.span()));
    EXPECT_EQ(error_of(late), std::errc::timed_out);
    skua::or_throw(co_await a.send_to(bytes_of("whole"), address_of(b)));
    EXPECT_EQ(co_await received(b), "whole");
  };
  rt.block_on(body());
}

TEST_P(udp_sockets, serve_several_tasks_at_once) {
  auto rt = start();
  auto body = []() -> task<> {
    udp_socket server = on_loopback();
    auto echo = [](udp_socket& on, int times) -> task<> {
      room<64> into;
      for (int i = 0; i < times; ++i) {
        const auto got = skua::or_throw(co_await on.recv_from(into.span()));
        skua::or_throw(co_await on.send_to(into.span().first(got.size()), got.from()));
      }
    };
    auto client = [](socket_address to, int times) -> task<> {
      udp_socket mine = on_loopback();
      for (int i = 0; i < times; ++i) {
        const std::string text = "number " + std::to_string(i);
        skua::or_throw(co_await mine.send_to(bytes_of(text), to));
        EXPECT_EQ(co_await received(mine), text);
      }
    };
    constexpr int times = 50;
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(spawn(echo, std::ref(server), times));
      all.push_back(spawn(client, address_of(server), times));
    }
    for (auto& one : all) co_await std::move(one);
  };
  rt.block_on(body());
}

TEST_P(udp_sockets, refuse_what_is_too_long) {
  auto rt = start();
  auto body = []() -> task<> {
    udp_socket a = on_loopback();
    const std::string much(70'000, 'x');
    EXPECT_EQ(error_of(co_await a.send_to(bytes_of(much), address_of(a))), std::errc::message_size);
  };
  rt.block_on(body());
}

TEST_P(udp_sockets, broadcast_only_if_told_to) {
  auto rt = start();
  auto body = []() -> task<> {
    udp_socket a = skua::or_throw(udp_socket::bind("0.0.0.0:0"));
    const socket_address all(ip_address::v4(127, 255, 255, 255), 9);  // on this machine only
    EXPECT_FALSE(a.broadcast().value_or(true));
    const auto refused = error_of(co_await a.send_to(bytes_of("x"), all));
    // Without a route it cannot even be tried.
    EXPECT_TRUE(refused == std::errc::permission_denied ||
                refused == std::errc::network_unreachable)
        << refused.message();
    EXPECT_TRUE(a.set_broadcast(true).has_value());
    EXPECT_TRUE(a.broadcast().value_or(false));
    const auto sent = co_await a.send_to(bytes_of("x"), all);
    EXPECT_NE(error_of(sent), std::errc::permission_denied);
  };
  rt.block_on(body());
}

/// What comes to a group that was joined at the loopback interface, and does not after leaving it,
/// though somebody else on this machine is still a member.
task<bool> multicast_works(ip_address group, ip_address any, std::uint32_t interface) {
  auto bound = udp_socket::bind_shared(socket_address(any, 0));
  if (!bound) co_return false;
  udp_socket member = std::move(*bound);
  if (const auto joined = member.join(group, interface); !joined) {
    EXPECT_EQ(error_of(joined), std::errc::no_such_device);
    co_return false;
  }
  EXPECT_EQ(error_of(member.join(group, interface)), std::errc::address_in_use);
  udp_socket other = skua::or_throw(udp_socket::bind(socket_address(any, 0)));
  EXPECT_TRUE(other.join(group, interface).has_value());
  udp_socket sender = skua::or_throw(udp_socket::bind(socket_address(any, 0)));
  EXPECT_TRUE(sender.set_multicast_interface(interface).has_value());
  EXPECT_TRUE(sender.multicast_loop().value_or(false));
  EXPECT_EQ(sender.multicast_ttl().value_or(0), 1);
  const socket_address to(group.is_v6() ? group.with_scope(interface) : group,
                          address_of(member).port());
  const auto sent = co_await sender.send_to(bytes_of("to all"), to);
  if (!sent) co_return false;
  room<16> into;
  const auto got = co_await skua::timeout(60s, member.recv_from(into.span()));
  EXPECT_TRUE(got.has_value()) << error_of(got).message();

  EXPECT_TRUE(sender.set_multicast_loop(false).has_value());
  EXPECT_FALSE(sender.multicast_loop().value_or(true));
  EXPECT_TRUE(sender.set_multicast_ttl(3).has_value());
  EXPECT_EQ(sender.multicast_ttl().value_or(0), 3);
  EXPECT_TRUE(member.leave(group, interface).has_value());
  EXPECT_EQ(error_of(member.leave(group, interface)), std::errc::address_not_available);
  EXPECT_TRUE(sender.set_multicast_loop(true).has_value());
  skua::or_throw(co_await sender.send_to(bytes_of("x"), to));
  const auto none = co_await skua::timeout(2ms, member.recv_from(into.span()));
  EXPECT_EQ(error_of(none), std::errc::timed_out);
  co_return true;
}

TEST_P(udp_sockets, join_and_leave_groups) {
  auto rt = start();
  const unsigned loopback = ::if_nametoindex("lo");
  const bool v4 =
      rt.block_on(multicast_works(ip_address::v4(239, 1, 2, 3), ip_address::v4_any(), loopback));
  const bool v6 = rt.block_on(multicast_works(skua::or_throw(ip_address::parse("ff01::1234")),
                                              ip_address::v6_any(), loopback));
  if (!v4 && !v6) GTEST_SKIP() << "no multicast here";
  RecordProperty("v4", v4 ? 1 : 0);
  RecordProperty("v6", v6 ? 1 : 0);
}

TEST(udp_socket, says_why_it_could_not_be_bound) {
  const udp_socket taken = on_loopback();
  EXPECT_EQ(error_of(udp_socket::bind(address_of(taken))), std::errc::address_in_use);
  EXPECT_EQ(error_of(udp_socket::bind("localhost:1")), std::errc::invalid_argument);
  EXPECT_EQ(error_of(udp_socket::bind("192.0.2.1:0")), std::errc::address_not_available);
  EXPECT_EQ(error_of(udp_socket::bind("unix:@x")), std::errc::address_family_not_supported);
  udp_socket some = on_loopback();
  EXPECT_EQ(error_of(some.join(ip_address::v4(10, 1, 1, 1))), std::errc::invalid_argument);
}

TEST(udp_socket, has_options_and_is_made_of_raw_descriptors) {
  udp_socket one = on_loopback();
  EXPECT_TRUE(one.set_ttl(7).has_value());
  EXPECT_EQ(one.ttl().value_or(0), 7);
  EXPECT_TRUE(one.set_receive_buffer_size(16'384).has_value());
  EXPECT_EQ(one.receive_buffer_size().value_or(0), 32'768U);
  EXPECT_TRUE(one.set_send_buffer_size(16'384).has_value());
  EXPECT_EQ(one.send_buffer_size().value_or(0), 32'768U);
  const int number = one.get();
  auto again = udp_socket::from_descriptor(one.release());
  EXPECT_EQ(one.get(), -1);
  EXPECT_EQ(again.value().get(), number);
  auto stream = skua_test::loopback_listener();
  EXPECT_EQ(error_of(udp_socket::from_descriptor(stream.release())),
            std::errc::wrong_protocol_type);
}

TEST(udp_socket, may_be_shared_by_several_that_agree) {
  const auto first =
      skua::or_throw(udp_socket::bind_shared(socket_address(ip_address::v4_loopback(), 0)));
  EXPECT_TRUE(udp_socket::bind_shared(address_of(first)).has_value());
  EXPECT_EQ(error_of(udp_socket::bind(address_of(first))), std::errc::address_in_use);
}

}  // namespace
