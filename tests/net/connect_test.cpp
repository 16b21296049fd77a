// tests/net/connect_test.cpp: whichever address answers first, and nothing left of the others.
#include "skua/net/connect.hpp"

#include "net/candidates.hpp"
#include "net/dns_backend.hpp"
#include "skua/io/stream.hpp"
#include "skua/net/resolver.hpp"
#include "skua/skua.hpp"
#include "support/bound_socket.hpp"
#include "support/errors.hpp"
#include "support/fd_limit.hpp"
#include "support/open_fds.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"
#include "support/temp_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::result;
using skua::spawn;
using skua::task;
using skua::unique_fd;
using skua::io::descriptor;
using skua::net::candidates;
using skua::net::connect_options;
using skua::net::connect_to_any;
using skua::net::dns_answer;
using skua::net::dns_errc;
using skua::net::ip_address;
using skua::net::ip_family;
using skua::net::resolver;
using skua::net::resolver_options;
using skua::net::socket_address;
using skua::net::tcp_stream;
using skua_test::bound_socket;
using skua_test::error_of;
using skua_test::open_fds;
using step = candidates::step;

socket_address peer_of(const result<descriptor>& connected) {
  return connected ? skua_test::name_of(connected->get(), ::getpeername) : socket_address();
}

/// Takes connections, up to as many as `backlog` says.
struct listener : bound_socket {
  explicit listener(const ip_address& at, int backlog = 100) : bound_socket(SOCK_STREAM, at) {
    EXPECT_EQ(::listen(socket.get(), backlog), 0);
  }
};

/// Whoever connects to it waits for ever: it is full, and nobody accepts.
struct hanging_listener : listener {
  hanging_listener() : listener(ip_address::v4_loopback(), 0), others(socket.get()) {}
  skua_test::full_queue others;
};

/// Where nobody listens: the port is taken, but not for listening.
struct closed_port : bound_socket {
  closed_port() : bound_socket(SOCK_STREAM, ip_address::v4_loopback()) {}
};

/// At a port that nobody else has by the other version of IP either: there it is refused.
template <typename Socket>
struct lone : Socket {
  template <typename... Args>
  explicit lone(const Args&... args) : Socket(args...) {
    while (!takes_the_other()) static_cast<Socket&>(*this) = Socket(args...);
  }
  bool takes_the_other() {
    const bool is_v4 = this->address.ip().is_v4();
    other.reset(::socket(is_v4 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto at = is_v4 ? ip_address::v6_loopback() : ip_address::v4_loopback();
    const socket_address same(at, this->address.port());
    return ::bind(other.get(), same.data(), same.size()) == 0 || errno != EADDRINUSE;
  }
  unique_fd other;
};

const socket_address unreachable(ip_address::v4(224, 0, 0, 1), 80);  // TCP knows no multicast

class connecting : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, connecting, skua_test::every_kind(), skua_test::name_of_kind);

task<result<descriptor>> try_all(std::vector<socket_address> all, skua::time_span stagger) {
  co_return co_await connect_to_any(std::move(all), connect_options().stagger(stagger));
}

TEST_P(connecting, gives_a_socket_that_works) {
  auto rt = start();
  const listener good(ip_address::v4_loopback());
  auto connected = rt.block_on(try_all({good.address}, 1h));
  ASSERT_EQ(peer_of(connected), good.address);
  EXPECT_NE(::fcntl(connected->get(), F_GETFD) & FD_CLOEXEC, 0);
  const unique_fd other(::accept4(good.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  auto body = [](descriptor& mine, int far) -> task<> {
    std::array<std::byte, 1> one = {std::byte{7}};
    const auto sent = co_await mine.write(one);
    EXPECT_EQ(sent.value_or(0), 1U);
    std::array<std::byte, 1> got{};
    const auto received = co_await skua::io::read(far, got);
    EXPECT_EQ(received.value_or(0), 1U);
    EXPECT_EQ(got, one);
  };
  rt.block_on(body(*connected, other.get()));
}

TEST_P(connecting, goes_on_at_once_when_an_address_refuses) {
  auto rt = start();
  const closed_port bad;
  const listener good(ip_address::v4_loopback());
  const std::size_t before = open_fds();
  {
    const auto connected = rt.block_on(try_all({bad.address, bad.address, good.address}, 1h));
    EXPECT_EQ(peer_of(connected), good.address);
    EXPECT_EQ(open_fds(), before + 1);
  }
  EXPECT_EQ(open_fds(), before);
}

TEST_P(connecting, does_not_wait_for_an_address_that_hangs) {
  auto rt = start();
  const hanging_listener hangs;
  const listener good(ip_address::v4_loopback());
  const std::size_t before = open_fds();
  const auto begin = std::chrono::steady_clock::now();
  const auto connected = rt.block_on(try_all({hangs.address, good.address}, 20ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 20ms) << "it has that long alone";
  EXPECT_EQ(peer_of(connected), good.address);
  EXPECT_EQ(open_fds(), before + 1) << "the other is closed";
}

TEST_P(connecting, goes_on_behind_those_that_hang) {
  auto rt = start();
  const hanging_listener hangs;
  const closed_port bad;
  const listener good(ip_address::v4_loopback());
  const std::size_t before = open_fds();
  const auto connected = rt.block_on(
      try_all({hangs.address, hangs.address, bad.address, hangs.address, good.address}, 10ms));
  EXPECT_EQ(peer_of(connected), good.address);
  EXPECT_EQ(open_fds(), before + 1);
}

/// Sockets that have asked to be connected to it, and have no answer; by one look at a list that
/// changes meanwhile.
int seem_to_ask(const socket_address& whom) {
  std::array<char, 16> port{};
  std::snprintf(port.data(), port.size(), ":%04X 02 ", whom.port());  // SYN_SENT
  std::ifstream all("/proc/net/tcp");
  int count = 0;
  for (std::string line; std::getline(all, line);)
    if (line.find(port.data()) != std::string::npos) ++count;
  return count;
}
int asking(const socket_address& whom) {
  for (int before = -1;;)
    if (const int now = seem_to_ask(whom); std::exchange(before, now) == now) return now;
}

task<> first_answers_late(const listener& slow, const listener& hangs) {
  const int before = asking(hangs.address);
  auto connects = spawn(try_all({slow.address, hangs.address}, 1ms));
  while (asking(hangs.address) == before) co_await skua::sleep(1ms);
  EXPECT_FALSE(connects.done());
  EXPECT_EQ(::listen(slow.socket.get(), 100), 0);  // has room now; the kernel tries again soon
  const auto connected = co_await std::move(connects);
  EXPECT_EQ(peer_of(connected), slow.address);
  EXPECT_EQ(asking(hangs.address), before) << "the other has been closed";
}

// The kernel tries again after a second, so all kinds are tried at the same time.
TEST(connecting_late, takes_the_first_if_it_answers_after_all) {
  std::vector<std::jthread> all;
  for (const skua_test::kind& one : skua_test::all_kinds)
    all.emplace_back([one] {
      const hanging_listener slow;
      const hanging_listener hangs;
      skua_test::started(one.settings()).block_on(first_answers_late(slow, hangs));
    });
}

TEST_P(connecting, tells_the_most_telling_error_if_all_fail) {
  auto rt = start();
  const closed_port bad;
  const std::size_t before = open_fds();
  const auto refused = std::errc::connection_refused;
  EXPECT_EQ(error_of(rt.block_on(try_all({bad.address, bad.address}, 1h))), refused);
  EXPECT_EQ(error_of(rt.block_on(try_all({bad.address, unreachable}, 1h))), refused);
  EXPECT_EQ(error_of(rt.block_on(try_all({unreachable, bad.address}, 1h))), refused);
  EXPECT_EQ(error_of(rt.block_on(try_all({unreachable}, 1h))), std::errc::network_unreachable);
  EXPECT_EQ(error_of(rt.block_on(try_all({}, 1h))), std::errc::invalid_argument);
  EXPECT_EQ(error_of(rt.block_on(try_all({bad.address, socket_address::unix_unnamed()}, 1h))),
            std::errc::invalid_argument);
  EXPECT_EQ(open_fds(), before);
}

TEST_P(connecting, leaves_nothing_open_when_it_is_stopped_at_any_stage) {
  auto rt = start();
  const hanging_listener hangs;
  const closed_port bad;
  auto body = [&]() -> task<> {
    const std::size_t before = open_fds();
    for (int stage = 0; stage < 30; ++stage) {
      auto connects =
          spawn(try_all({hangs.address, bad.address, hangs.address, hangs.address}, 200us));
      for (int i = 0; i < stage % 10; ++i) co_await skua::yield();
      if (stage >= 10) co_await skua::sleep(stage * 30us);
      connects.abort();
      const auto end = co_await connects.outcome();
      EXPECT_TRUE(end.stopped());
    }
    EXPECT_EQ(open_fds(), before);
    task<result<descriptor>> connects = try_all({hangs.address}, 1ms);
    const auto late = co_await skua::timeout(5ms, std::move(connects));
    EXPECT_EQ(error_of(late), std::errc::timed_out);
    EXPECT_EQ(open_fds(), before);
  };
  rt.block_on(body());
}

TEST_P(connecting, says_so_if_there_is_no_descriptor) {
  auto rt = start();
  const listener good(ip_address::v4_loopback());
  auto body = [&]() -> task<> {
    const skua_test::fd_limit none;
    task<result<descriptor>> connects = try_all({good.address, unreachable}, 1h);
    const auto got = co_await std::move(connects);
    EXPECT_EQ(error_of(got), std::errc::too_many_files_open);
  };
  rt.block_on(body());
}

/// Knows addresses of version 4, and may keep quiet about those of version 6.
class halting_backend final : public skua::net::dns_backend {
public:
  halting_backend(ip_address v4, skua::event& v6_known, int& alive)
      : v4_(v4), v6_known_(v6_known), alive_(alive) {}

  class query final : public skua::net::dns_query {
  public:
    query(halting_backend& of, ip_family which) : of_(of), which_(which) { ++of_.alive_; }
    ~query() override { --of_.alive_; }
    task<result<dns_answer>> run() override {
      if (which_ == ip_family::v4) co_return dns_answer(std::vector<ip_address>(1, of_.v4_), 1h);
      co_await of_.v6_known_.wait();
      co_return dns_answer(std::vector<ip_address>(1, ip_address::v6_loopback()), 1h);
    }

  private:
    halting_backend& of_;
    const ip_family which_;
  };

  std::unique_ptr<skua::net::dns_query> ask(const std::string& /*name*/, ip_family which) override {
    return std::make_unique<query>(*this, which);
  }
  void reload() noexcept override {}
  [[nodiscard]] const char* name() const noexcept override { return "halting"; }

private:
  const ip_address v4_;
  skua::event& v6_known_;
  int& alive_;
};

TEST_P(connecting, does_not_wait_long_for_a_lookup_of_version_6) {
  auto rt = start();
  const listener good(ip_address::v4_loopback());
  skua::event never;
  int alive = 0;
  resolver names(resolver_options().hosts_file(""),
                 new halting_backend(ip_address::v4_loopback(), never, alive));
  auto body = [&]() -> task<> {
    const auto connected =
        co_await skua::net::connect(names, "x", good.address.port(), connect_options().stagger(1h));
    EXPECT_EQ(peer_of(connected), good.address);
    EXPECT_EQ(alive, 0) << "the lookup is stopped";
  };
  rt.block_on(body());
}

TEST_P(connecting, tries_what_a_late_lookup_brings) {
  auto rt = start();
  const lone<listener> good(ip_address::v6_loopback());
  skua::event known;
  int alive = 0;
  const hanging_listener hangs;
  resolver names(resolver_options().hosts_file(""),
                 new halting_backend(ip_address::v4_loopback(), known, alive));
  auto body = [&]() -> task<> {
    auto connect = [](resolver& by, std::uint16_t port) -> task<result<descriptor>> {
      co_return co_await skua::net::connect(by, "x", port,
                                            connect_options().stagger(1ms).resolution_delay(0s));
    };
    auto connects = spawn(connect(names, good.address.port()));  // refused by version 4
    co_await skua::sleep(10ms);
    EXPECT_FALSE(connects.done());
    known.set();
    const auto connected = co_await std::move(connects);
    EXPECT_EQ(peer_of(connected), good.address);
  };
  rt.block_on(body());
}

TEST_P(connecting, finds_hosts_by_name) {
  auto rt = start();
  const skua_test::temp_directory here;
  std::ofstream(here / "hosts") << "127.0.0.1 both.test\n::1 both.test\n127.0.0.1 four.test\n";
  resolver names(resolver_options().hosts_file(here / "hosts"));
  const lone<listener> v4(ip_address::v4_loopback());
  const lone<listener> v6(ip_address::v6_loopback());
  const lone<closed_port> bad;
  const std::size_t before = open_fds();
  auto body = [&]() -> task<> {
    const auto far = connect_options().stagger(1h);
    for (const char* name : {"both.test", "::1"}) {
      const auto got = co_await skua::net::connect(names, name, v6.address.port(), far);
      EXPECT_EQ(peer_of(got), v6.address) << name;
    }
    for (const char* name : {"both.test", "four.test", "127.0.0.1"}) {
      const auto got = co_await skua::net::connect(names, name, v4.address.port(), far);
      EXPECT_EQ(peer_of(got), v4.address) << name;
    }
    {
      const auto got = co_await skua::net::connect("localhost", v4.address.port());
      EXPECT_EQ(peer_of(got), v4.address);
    }
    {
      const auto stream = co_await tcp_stream::connect(names, "four.test", v4.address.port());
      EXPECT_TRUE(stream.has_value());
      const auto other = co_await tcp_stream::connect("localhost", v4.address.port(), far);
      EXPECT_TRUE(other.has_value());
      const auto error = error_of(co_await tcp_stream::connect(names, "four.test", 0, far));
      EXPECT_EQ(error, std::errc::connection_refused);
    }
    const auto none = co_await skua::net::connect(names, "both.test", bad.address.port());
    EXPECT_EQ(error_of(none), std::errc::connection_refused);
    const auto no_name = co_await skua::net::connect(names, "a..b", 80);
    EXPECT_EQ(error_of(no_name), dns_errc::bad_name);
  };
  rt.block_on(body());
  EXPECT_EQ(open_fds(), before);
}

const socket_address four_1(ip_address::v4(192, 0, 2, 1), 1);
const socket_address four_2(ip_address::v4(192, 0, 2, 2), 1);
const socket_address six_1(ip_address::parse("2001:db8::1").value(), 1);
const socket_address six_2(ip_address::parse("2001:db8::2").value(), 1);

constexpr skua::instant at(std::int64_t nanoseconds) {
  return skua::instant::of_nanoseconds(nanoseconds);
}

TEST(candidate, versions_alternate) {
  candidates all(ip_family::v6, 50ns);
  for (const auto& one : {four_1, four_2, six_1, six_2}) all.add(one, at(0));
  all.close(ip_family::v4);
  all.close(ip_family::v6);
  for (const auto& expected : {six_1, four_1, six_2, four_2}) {
    ASSERT_EQ(all.next(at(0)), step::try_it);
    EXPECT_EQ(all.take(), expected);
  }
  EXPECT_EQ(all.next(at(0)), step::end);
}

TEST(candidate, one_version_goes_on_when_the_other_is_used_up) {
  candidates all(ip_family::v4, 50ns);
  for (const auto& one : {four_1, six_1, six_2}) all.add(one, at(0));
  for (const auto& expected : {four_1, six_1, six_2}) {
    ASSERT_EQ(all.next(at(0)), step::try_it);
    EXPECT_EQ(all.take(), expected);
  }
  EXPECT_EQ(all.next(at(1000)), step::wait) << "neither is closed";
  EXPECT_EQ(all.wait_end(), skua::instant::never());
}

TEST(candidate, version_4_waits_a_while_for_version_6) {
  candidates all(ip_family::v6, 50ns);
  EXPECT_EQ(all.next(at(0)), step::wait);
  EXPECT_EQ(all.wait_end(), skua::instant::never());
  all.add(four_1, at(100));
  all.add(four_2, at(120));
  EXPECT_EQ(all.next(at(149)), step::wait);
  EXPECT_EQ(all.wait_end(), at(150));
  EXPECT_EQ(all.next(at(150)), step::try_it);
  EXPECT_EQ(all.take(), four_1);
  EXPECT_EQ(all.next(at(150)), step::try_it) << "only the first waits";
  all.add(six_1, at(160));
  EXPECT_EQ(all.take(), six_1) << "its turn";
  EXPECT_EQ(all.take(), four_2);
}

TEST(candidate, version_4_does_not_wait_for_what_will_not_come) {
  candidates all(ip_family::v6, 50ns);
  all.add(four_1, at(100));
  all.close(ip_family::v6);
  EXPECT_EQ(all.next(at(100)), step::try_it);
  EXPECT_EQ(all.take(), four_1);
  EXPECT_EQ(all.next(at(100)), step::wait);
  all.close(ip_family::v4);
  EXPECT_EQ(all.next(at(100)), step::end);
}

TEST(candidate, version_6_never_waits) {
  candidates all(ip_family::v6, 50ns);
  all.add(six_1, at(0));
  EXPECT_EQ(all.next(at(0)), step::try_it);
}

}  // namespace
