// tests/net/socket_address_test.cpp: the kernel's addresses from text, from the kernel, and back.
#include "skua/net/socket_address.hpp"

#include "skua/driver/unique_fd.hpp"
#include "support/budget.hpp"
#include "support/errors.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

namespace {

using namespace std::string_view_literals;
using skua::net::ip_address;
using skua::net::socket_address;
using skua_test::error_of;

socket_address parsed(std::string_view text) {
  return socket_address::parse(text).value();
}

/// Bound to `where`, and asked for it.
socket_address bound_to(const socket_address& where) {
  const skua::unique_fd socket(::socket(where.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(socket.get(), where.data(), where.size()), 0) << where.to_string();
  sockaddr_storage room{};
  socklen_t length = sizeof room;
  auto* const system = reinterpret_cast<sockaddr*>(&room);
  EXPECT_EQ(::getsockname(socket.get(), system, &length), 0);
  return socket_address::of(system, length).value();
}

TEST(socket_address, is_nowhere_at_first) {
  const socket_address none;
  EXPECT_EQ(none.family(), AF_UNSPEC);
  EXPECT_FALSE(none.is_ip());
  EXPECT_FALSE(none.is_unix());
  EXPECT_EQ(none.to_string(), "unspecified");
  EXPECT_EQ(none, socket_address::of(none.data(), none.size()).value());
}

TEST(socket_address, has_an_ip_address_and_a_port) {
  const socket_address v4(ip_address::v4_loopback(), 8080);
  EXPECT_EQ(v4.to_string(), "127.0.0.1:8080");
  EXPECT_EQ(v4.family(), AF_INET);
  EXPECT_EQ(v4.ip(), ip_address::v4_loopback());
  EXPECT_EQ(v4.port(), 8080);
  EXPECT_EQ(v4.size(), sizeof(sockaddr_in));
  const socket_address v6 = parsed("[2001:db8::1%7]:65535");
  EXPECT_EQ(v6.to_string(), "[2001:db8::1%7]:65535");
  EXPECT_EQ(v6.family(), AF_INET6);
  EXPECT_EQ(v6.ip().scope(), 7U);
  EXPECT_EQ(v6.port(), 65535);
  EXPECT_EQ(v6.with_port(1).to_string(), "[2001:db8::1%7]:1");
  EXPECT_EQ(v6.path(), "");
  EXPECT_EQ(v6.abstract_name(), "");
}

TEST(socket_address, has_a_scope_by_name) {
  const std::uint32_t lo = if_nametoindex("lo");
  EXPECT_EQ(parsed("[fe80::1%lo]:80").ip().scope(), lo);
  EXPECT_EQ(error_of(socket_address::parse("[fe80::1%nosuch0]:80")), std::errc::no_such_device);
}

TEST(socket_address, is_what_the_kernel_says_of_a_bound_socket) {
  const socket_address v4 = bound_to(parsed("127.0.0.1:0"));
  EXPECT_EQ(v4.ip(), ip_address::v4_loopback());
  EXPECT_NE(v4.port(), 0);
  const skua_test::temp_directory here;
  const auto path = socket_address::unix_path(here / "s").value();
  EXPECT_EQ(bound_to(path), path);
  const auto abstract = socket_address::unix_abstract("skua\0test\n"sv).value();
  EXPECT_EQ(bound_to(abstract), abstract);
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const skua::unique_fd one(pair[0]);
  const skua::unique_fd two(pair[1]);
  sockaddr_un system{};
  socklen_t length = sizeof system;
  ASSERT_EQ(::getpeername(one.get(), reinterpret_cast<sockaddr*>(&system), &length), 0);
  EXPECT_EQ(socket_address::of(reinterpret_cast<sockaddr*>(&system), length).value(),
            socket_address::unix_unnamed());
}

TEST(socket_address, names_unix_sockets) {
  const socket_address path = parsed("unix:/run/x.sock");
  EXPECT_TRUE(path.is_unix());
  EXPECT_EQ(path.path(), "/run/x.sock");
  EXPECT_EQ(path.abstract_name(), "");
  EXPECT_EQ(path.to_string(), "unix:/run/x.sock");
  const socket_address abstract = parsed("unix:@bus");
  EXPECT_EQ(abstract.abstract_name(), "bus");
  EXPECT_EQ(abstract.path(), "");
  EXPECT_EQ(abstract.to_string(), "unix:@bus");
  EXPECT_NE(abstract, path);
  const socket_address unnamed = socket_address::unix_unnamed();
  EXPECT_EQ(unnamed.to_string(), "unix:");
  EXPECT_EQ(unnamed.size(), sizeof(sa_family_t));
  EXPECT_EQ(unnamed.path(), "");
}

TEST(socket_address, writes_nothing_unprintable) {
  const auto abstract = socket_address::unix_abstract("a\0\n\\\x7f"sv).value();
  EXPECT_EQ(abstract.to_string(), R"(unix:@a\x00\x0a\x5c\x7f)");
  EXPECT_EQ(parsed(abstract.to_string()), abstract);
  const auto at = socket_address::unix_path("@x").value();
  EXPECT_EQ(at.to_string(), R"(unix:\x40x)") << "or it would be read as an abstract one";
  EXPECT_EQ(parsed(at.to_string()), at);
}

TEST(socket_address, refuses_names_that_do_not_fit) {
  EXPECT_TRUE(socket_address::unix_path(std::string(107, 'p')).has_value());
  EXPECT_TRUE(socket_address::unix_abstract(std::string(107, 'p')).has_value());
  for (const std::size_t size : {108U, 109U, 4096U}) {
    const std::string name(size, 'p');
    EXPECT_EQ(error_of(socket_address::unix_path(name)), std::errc::filename_too_long);
    EXPECT_EQ(error_of(socket_address::unix_abstract(name)), std::errc::filename_too_long);
    EXPECT_EQ(error_of(socket_address::parse("unix:" + name)), std::errc::filename_too_long);
    EXPECT_EQ(error_of(socket_address::parse("unix:@" + name)), std::errc::filename_too_long);
  }
  EXPECT_EQ(error_of(socket_address::unix_path("")), std::errc::invalid_argument);
  EXPECT_EQ(error_of(socket_address::unix_path("a\0b"sv)), std::errc::invalid_argument);
  EXPECT_EQ(error_of(socket_address::unix_abstract("")), std::errc::invalid_argument);
}

TEST(socket_address, refuses_text_that_is_none) {
  constexpr std::array bad = {""sv,
                              ":"sv,
                              ":80"sv,
                              "127.0.0.1"sv,
                              "127.0.0.1:"sv,
                              "127.0.0.1:-1"sv,
                              "127.0.0.1:+1"sv,
                              "127.0.0.1:65536"sv,
                              "127.0.0.1: 80"sv,
                              "127.0.0.1:80 "sv,
                              "127.0.0.1:80\0"sv,
                              "127.0.0.1:000080"sv,
                              "[127.0.0.1]:80"sv,
                              "::1:80"sv,
                              "[::1]"sv,
                              "[::1]80"sv,
                              "[::1:80"sv,
                              "::1]:80"sv,
                              "[]:80"sv,
                              "[[::1]]:80"sv,
                              "localhost:80"sv,
                              "*:80"sv,
                              "unix:"sv,
                              "unix:@"sv,
                              "Unix:/x"sv,
                              R"(unix:\)"sv,
                              R"(unix:\x4)"sv,
                              R"(unix:\xg0)"sv,
                              R"(unix:\n12)"sv,
                              R"(unix:a\x00)"sv,
                              R"(unix:\x+1)"sv,
                              "[::1]:0x50"sv};
  for (const std::string_view text : bad)
    EXPECT_EQ(error_of(socket_address::parse(text)), std::errc::invalid_argument) << text;
}

TEST(socket_address, refuses_what_is_too_short_or_of_another_family) {
  const socket_address v6 = parsed("[::1]:80");
  const socket_address v4 = parsed("1.2.3.4:80");
  EXPECT_EQ(socket_address::of(v6.data(), sizeof(sockaddr_storage)).value_or(v4), v6)
      << "longer than needed";
  for (unsigned short_of = 0; short_of < v6.size(); ++short_of)
    EXPECT_EQ(error_of(socket_address::of(v6.data(), short_of)), std::errc::invalid_argument);
  for (unsigned short_of = 0; short_of < v4.size(); ++short_of)
    EXPECT_EQ(error_of(socket_address::of(v4.data(), short_of)), std::errc::invalid_argument);
  sockaddr_storage other{};
  other.ss_family = AF_NETLINK;
  EXPECT_EQ(error_of(socket_address::of(reinterpret_cast<sockaddr*>(&other), sizeof other)),
            std::errc::address_family_not_supported);
}

TEST(socket_address, takes_a_path_that_fills_all_there_is) {
  sockaddr_un full{};
  full.sun_family = AF_UNIX;
  std::ranges::fill(full.sun_path, 'p');
  const auto* const system = reinterpret_cast<const sockaddr*>(&full);
  const auto got = socket_address::of(system, sizeof full + 1);  // as the kernel counts it
  EXPECT_EQ(got.value().path(), std::string(108, 'p'));
  EXPECT_EQ(got->size(), sizeof full);
}

TEST(socket_address, forgets_what_does_not_name_the_place) {
  sockaddr_in6 system{};
  system.sin6_family = AF_INET6;
  system.sin6_port = htons(80);
  system.sin6_addr = in6addr_loopback;
  system.sin6_flowinfo = 0x1234;
  EXPECT_EQ(socket_address::of(reinterpret_cast<sockaddr*>(&system), sizeof system).value(),
            parsed("[::1]:80"));
}

TEST(socket_address_death, has_an_ip_and_a_port_only_on_the_internet) {
  EXPECT_DEATH((void)socket_address::unix_unnamed().ip(), "only an address of the internet");
  EXPECT_DEATH((void)socket_address().port(), "only an address of the internet");
}

TEST(socket_address, is_read_as_it_was_written) {
  const skua_test::budget time(0.3);
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  const auto some_address = [&]() -> socket_address {
    if (random() % 2 == 0) {
      ip_address::v6_bytes bytes{};
      for (auto& one : bytes) one = random() % 2 == 0 ? static_cast<unsigned char>(random()) : 0;
      const auto port = static_cast<std::uint16_t>(random());
      if (random() % 2 == 0) return {ip_address::v4(bytes[0], bytes[1], bytes[2], bytes[3]), port};
      return {ip_address(bytes, static_cast<std::uint32_t>(random() % 3)), port};
    }
    std::string name(1 + random() % 107, 'x');
    for (char& one : name) one = static_cast<char>(1 + random() % 255);
    if (random() % 2 == 0) return socket_address::unix_path(name).value();
    name[random() % name.size()] = '\0';
    return socket_address::unix_abstract(name).value();
  };
  while (time.left()) {
    const socket_address one = some_address();
    const std::string text = one.to_string();
    const auto back = socket_address::parse(text);
    ASSERT_TRUE(back.has_value()) << text << ", seed " << seed;
    ASSERT_EQ(*back, one) << text << ", seed " << seed;
    ASSERT_EQ(socket_address::of(one.data(), one.size()).value(), one) << text;
  }
}

}  // namespace
