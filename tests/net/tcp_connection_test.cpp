// tests/net/tcp_connection_test.cpp: how TCP connections come about, or do not.
#include "skua/net/tcp_stream.hpp"
#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"
#include "support/streams.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <system_error>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
using net::socket_address;
using net::tcp_listener;
using net::tcp_stream;
using skua::task;
using skua_test::address_of;
using skua_test::can_be_stopped;
using skua_test::error_of;
using skua_test::loopback_listener;
using skua_test::open_fds;
using skua_test::read_text;
using skua_test::send_text;

class tcp_connections : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, tcp_connections, skua_test::every_kind(), skua_test::name_of_kind);

// A queue of one that is full: the kernel answers no more, and connecting takes long.
class busy_listener {
public:
  busy_listener() : at_(skua::or_throw(tcp_listener::bind("127.0.0.1:0", options()))) {}
  [[nodiscard]] socket_address address() const { return address_of(at_); }

private:
  static net::listen_options options() { return net::listen_options().backlog(0); }
  tcp_listener at_;
  skua_test::full_queue others_{at_.get()};
};

TEST_P(tcp_connections, can_be_stopped_and_time_out_while_they_connect) {
  auto rt = start();
  auto body = []() -> task<> {
    const busy_listener at;
    EXPECT_TRUE(co_await can_be_stopped(tcp_stream::connect(at.address())));
    const auto late = co_await skua::timeout(5ms, tcp_stream::connect(at.address()));
    EXPECT_EQ(error_of(late), std::errc::timed_out);
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

TEST_P(tcp_connections, say_why_they_could_not_connect) {
  auto rt = start();
  auto body = []() -> task<> {
    // Bound, so that nobody else gets the port, and not listening.
    skua::unique_fd closed(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto any = socket_address(net::ip_address::v4_loopback(), 0);
    EXPECT_EQ(::bind(closed.get(), any.data(), any.size()), 0);
    sockaddr_storage name{};
    socklen_t length = sizeof name;
    auto* const raw = reinterpret_cast<sockaddr*>(&name);
    EXPECT_EQ(::getsockname(closed.get(), raw, &length), 0);
    const auto nobody = skua::or_throw(socket_address::of(raw, length));
    EXPECT_EQ(error_of(co_await tcp_stream::connect(nobody)), std::errc::connection_refused);

    const auto path = skua::or_throw(socket_address::unix_path("/nowhere"));
    EXPECT_EQ(error_of(co_await tcp_stream::connect(path)),
              std::errc::address_family_not_supported);
    EXPECT_EQ(error_of(co_await tcp_stream::connect(socket_address())),
              std::errc::address_family_not_supported);
    const auto foreign = socket_address(net::ip_address::v4(192, 0, 2, 1), 0);
    tcp_listener at = loopback_listener();
    EXPECT_EQ(error_of(co_await tcp_stream::connect_from(foreign, address_of(at))),
              std::errc::address_not_available);
    EXPECT_EQ(error_of(co_await tcp_stream::connect_from(address_of(at), address_of(at))),
              std::errc::address_in_use);
  };
  const std::size_t before = open_fds();
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

// In a network of its own, which has nothing: not a packet leaves this machine.
TEST(tcp_connection, says_that_a_network_is_unreachable) {
  std::error_code why;
  bool alone = false;
  std::thread([&] {
    alone = ::unshare(CLONE_NEWNET) == 0;
    if (!alone) return;
    auto rt = skua_test::started(skua_test::alone.settings());
    auto body = []() -> task<std::error_code> {
      const auto nowhere = socket_address(net::ip_address::v4(192, 0, 2, 1), 9);
      co_return error_of(co_await tcp_stream::connect(nowhere));
    };
    why = rt.block_on(body());
  }).join();
  if (!alone) GTEST_SKIP() << "no network of its own can be had here";
  EXPECT_EQ(why, std::errc::network_unreachable);
}

TEST_P(tcp_connections, connect_from_an_address_of_ours) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    const auto mine = socket_address(net::ip_address::v4(127, 0, 0, 77), 0);
    const auto near = skua::or_throw(co_await tcp_stream::connect_from(mine, address_of(at)));
    const auto far = skua::or_throw(co_await at.accept());
    EXPECT_EQ(skua::or_throw(far.peer_address()).ip(), mine.ip());
    EXPECT_NE(skua::or_throw(near.local_address()).port(), 0);
  };
  rt.block_on(body());
}

TEST_P(tcp_connections, connect_by_name) {
  auto rt = start();
  auto body = []() -> task<> {
    tcp_listener at = loopback_listener();
    auto near = skua::or_throw(co_await tcp_stream::connect("127.0.0.1", address_of(at).port()));
    auto far = skua::or_throw(co_await at.accept());
    co_await send_text(near, "found");
    EXPECT_EQ(co_await read_text(far), "found");
  };
  rt.block_on(body());
}

}  // namespace
