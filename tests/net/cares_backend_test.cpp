// tests/net/cares_backend_test.cpp: real questions to a real server, and to bad ones.
#include "skua/io/socket.hpp"
#include "skua/net/resolver.hpp"
#include "skua/skua.hpp"
#include "support/bound_socket.hpp"
#include "support/dns_server.hpp"
#include "support/errors.hpp"
#include "support/fd_limit.hpp"
#include "support/long_call.hpp"
#include "support/open_fds.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"
#include "support/streams.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::result;
using skua::spawn;
using skua::task;
using skua::unique_fd;
using skua::net::dns_errc;
using skua::net::ip_address;
using skua::net::ip_family;
using skua::net::resolver;
using skua::net::resolver_options;
using skua::net::socket_address;
using skua_test::comes_true;
using skua_test::dns_server;
using skua_test::error_of;
using skua_test::open_fds;
using addresses = std::vector<ip_address>;

std::size_t threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// What the server knows.
std::vector<std::string> zone() {
  std::vector<std::string> made = {"--host-record=a.test,192.0.2.1,2001:db8::1",
                                   "--host-record=four.test,192.0.2.4",
                                   "--host-record=two.test,192.0.2.1",
                                   "--host-record=two.test,192.0.2.2",
                                   "--cname=first.test,second.test",
                                   "--cname=second.test,a.test",
                                   "--address=/many.test/192.0.2.9",
                                   "--local-ttl=300",
                                   "--dns-forward-max=10000"};
  for (int i = 0; i < 100; ++i)
    made.push_back("--host-record=big.test,192.0.2." + std::to_string(i));
  return made;
}

/// For a suite of tests.
template <typename Base>
class with_server : public Base {
protected:
  static void SetUpTestSuite() { server = std::make_unique<dns_server>(zone()); }
  static void TearDownTestSuite() { server.reset(); }
  void SetUp() override {
    if (std::string(resolver().backend()) != "c-ares") GTEST_SKIP() << "built without c-ares";
    if (!server->runs()) GTEST_SKIP() << "no dnsmasq: install dnsmasq-base";
  }

  static resolver_options asking(const socket_address& whom) {
    return resolver_options().hosts_file("").servers({whom});
  }
  static resolver_options options() { return asking(server->address()); }

  static inline std::unique_ptr<dns_server> server;
};

class cares_alone : public with_server<testing::Test> {};
class cares : public with_server<skua_test::for_each_kind> {};
INSTANTIATE_TEST_SUITE_P(every, cares, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(cares, finds_addresses_of_both_kinds) {
  auto rt = start();
  resolver names(options());
  auto body = [](resolver& at) -> task<> {
    const ip_address v4 = ip_address::v4(192, 0, 2, 1);
    const ip_address v6 = ip_address::parse("2001:db8::1").value();
    const auto all = co_await at.lookup("a.test");
    EXPECT_EQ(all.value(), (addresses{v6, v4}));
    const auto of_v4 = co_await at.lookup("a.test", ip_family::v4);
    EXPECT_EQ(of_v4.value(), addresses{v4});
    const auto of_v6 = co_await at.lookup("A.Test.", ip_family::v6);
    EXPECT_EQ(of_v6.value(), addresses{v6});
    const auto both = (co_await at.lookup("two.test")).value();
    EXPECT_EQ(std::set(both.begin(), both.end()), (std::set{v4, ip_address::v4(192, 0, 2, 2)}));
    EXPECT_EQ(at.stats().cached, 1U);
  };
  rt.block_on(body(names));
}

TEST_P(cares, follows_aliases) {
  auto rt = start();
  resolver names(options());
  auto body = [](resolver& at) -> task<> {
    const auto found = (co_await at.lookup("first.test", ip_family::v4)).value();
    EXPECT_EQ(found, addresses{ip_address::v4(192, 0, 2, 1)});
  };
  rt.block_on(body(names));
}

TEST_P(cares, asks_by_tcp_for_what_is_too_long) {
  auto rt = start();
  resolver names(options());
  auto body = [](resolver& at) -> task<> {
    const auto found = (co_await at.lookup("big.test", ip_family::v4)).value();
    EXPECT_EQ(found.size(), 100U);
  };
  rt.block_on(body(names));
}

TEST_P(cares, tells_why_there_is_no_address) {
  auto rt = start();
  resolver names(options());
  auto body = [](resolver& at) -> task<> {
    const auto none = error_of(co_await at.lookup("none.test"));
    EXPECT_EQ(none, dns_errc::not_found);
    EXPECT_EQ(none.message(), "no such host name");
    EXPECT_EQ(error_of(co_await at.lookup("four.test", ip_family::v6)), dns_errc::no_data);
    EXPECT_EQ(error_of(co_await at.lookup("elsewhere.example")), dns_errc::refused);
  };
  rt.block_on(body(names));
}

TEST_F(cares_alone, heeds_the_time_to_live_of_its_server) {
  auto settings = skua_test::alone.settings();
  settings.virtual_time = true;
  auto rt = skua_test::started(settings);
  resolver names(options());
  auto body = [](resolver& at) -> task<> {
    co_await at.lookup("first.test", ip_family::v4);
    co_await skua::testing::advance(299s);
    co_await at.lookup("first.test", ip_family::v4);
    EXPECT_EQ(at.stats().queries, 1U);
    co_await skua::testing::advance(1s);
    co_await at.lookup("first.test", ip_family::v4);
    EXPECT_EQ(at.stats().queries, 2U);
  };
  rt.block_on(body(names));
}

TEST_F(cares_alone, reads_the_settings_again_although_the_first_to_do_so_was_stopped) {
  const char* const file = "/etc/resolv.conf";
  const unique_fd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (::inotify_add_watch(watch.get(), file, IN_OPEN) < 0) GTEST_SKIP() << "no " << file;
  const auto was_read = [&watch] {
    std::array<char, 4096> events;
    return ::read(watch.get(), events.data(), events.size()) > 0;
  };
  auto settings = skua_test::alone.settings();
  settings.blocking_threads = 1;
  auto rt = skua_test::started(settings);
  resolver names(options().cache_entries(0));
  auto body = [&]() -> task<> {
    skua_test::long_call other;
    (void)co_await names.lookup("a.test", ip_family::v4);
    EXPECT_TRUE(was_read());
    names.forget();
    auto busy = spawn(other.run());
    while (!other.begun) co_await skua::sleep(1ms);
    auto stopped = spawn(names.lookup("a.test", ip_family::v4));
    while (rt.metrics().blocking_depth == 0) co_await skua::sleep(1ms);
    stopped.abort();
    const auto how = co_await stopped.outcome();
    EXPECT_TRUE(how.stopped());
    other.may_end.release();
    co_await std::move(busy);
    static_cast<void>(was_read());  // by other processes, perhaps: all of them use that file
    const auto found = co_await names.lookup("a.test", ip_family::v4);
    EXPECT_TRUE(found.has_value());
    EXPECT_TRUE(was_read());
  };
  rt.block_on(body());
}

TEST_P(cares, makes_a_thousand_lookups_at_once_without_a_thread_for_any) {
  auto rt = start();
  resolver names(options());
  auto one_lookup = [](resolver& at, int i) -> task<bool> {
    const auto found = co_await at.lookup("n" + std::to_string(i) + ".many.test", ip_family::v4);
    co_return found.value_or(addresses()) == addresses{ip_address::v4(192, 0, 2, 9)};
  };
  auto body = [&](resolver& at) -> task<> {
    co_await at.lookup("a.test");  // reads the settings, for which there may be a thread
    const std::size_t threads_before = threads();
    const std::size_t fds_before = open_fds();
    std::vector<skua::join_handle<bool>> all;
    for (int i = 0; i < 1000; ++i) all.push_back(spawn(one_lookup(at, i)));
    int good = 0;
    std::size_t most_threads = 0;
    for (auto& each : all) {
      good += co_await std::move(each) ? 1 : 0;
      most_threads = std::max(most_threads, threads());
    }
    EXPECT_EQ(good, 1000);
    EXPECT_LE(most_threads, threads_before);
    EXPECT_EQ(open_fds(), fds_before);
    EXPECT_EQ(at.stats().queries, 1002U);
  };
  rt.block_on(body(names));
}

/// A socket to send questions to, which nobody reads.
struct silent_server : skua_test::bound_socket {
  silent_server() : bound_socket(SOCK_DGRAM, ip_address::v4_loopback()) {}
};

TEST_P(cares, gives_up_on_a_server_that_does_not_answer) {
  auto rt = start();
  const silent_server nobody;
  resolver names(asking(nobody.address).timeout(30ms).tries(2));
  auto body = [](resolver& at) -> task<> {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(error_of(co_await at.lookup("a.test")), dns_errc::timed_out);
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, 80ms) << "30 and then 60, but c-ares rounds";
    EXPECT_LT(took, 60s);
  };
  rt.block_on(body(names));
}

TEST_P(cares, goes_on_to_the_next_server) {
  auto rt = start();
  const silent_server nobody;
  resolver names(
      resolver_options().hosts_file("").timeout(20ms).tries(10).servers(  // each twice as long
          {nobody.address, server->address()}));
  auto body = [](resolver& at) -> task<> {
    EXPECT_TRUE((co_await at.lookup("a.test")).has_value());
  };
  rt.block_on(body(names));
}

TEST_P(cares, says_so_if_there_is_no_server) {
  auto rt = start();
  const skua_test::deaf_socket nobody(ip_address::v4_loopback());
  resolver names(asking(nobody.address).timeout(60s));
  auto body = [](resolver& at) -> task<> {
    const auto error = error_of(co_await at.lookup("a.test", ip_family::v4));
    EXPECT_EQ(error, dns_errc::unreachable);
  };
  rt.block_on(body(names));
}

TEST_P(cares, lets_nothing_open_when_it_is_stopped_at_any_stage) {
  auto rt = start();
  const silent_server nobody;
  auto body = [&]() -> task<> {
    for (const bool silent : {true, false}) {
      resolver names(silent ? asking(nobody.address).timeout(20ms) : options());
      {
        resolver warm(options());
        co_await warm.lookup("a.test");
      }
      const std::size_t before = open_fds();
      for (int stage = 0; stage < 60; ++stage) {
        auto find = [](resolver& at, std::string name) -> task<> { co_await at.lookup(name); };
        auto one = spawn(find(names, "n" + std::to_string(stage) + ".many.test"));
        auto two = spawn(find(names, "n" + std::to_string(stage) + ".many.test"));
        for (int i = 0; i < stage % 20; ++i) co_await skua::yield();
        if (stage >= 20) co_await skua::sleep(std::chrono::microseconds(stage * 20));
        one.abort();
        two.abort();
        const auto first_end = co_await one.outcome();
        const auto second_end = co_await two.outcome();
        EXPECT_FALSE(first_end.has_exception() || second_end.has_exception());
      }
      // A thread of the pool may be reading the settings for those who did not wait for them.
      EXPECT_TRUE(co_await comes_true([before] { return open_fds() == before; }));
    }
  };
  rt.block_on(body());
}

/// Answers each question with `code` in its header, and nothing else.
task<> answer_with(int fd, unsigned char code) {
  for (;;) {
    std::array<std::byte, 512> packet;
    sockaddr_in from{};
    iovec part{packet.data(), packet.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const auto got = co_await io::recvmsg(fd, message);
    if (!got || *got < 12) co_return;
    packet[2] = std::byte{0x81};
    packet[3] = std::byte{static_cast<unsigned char>(0x80 | code)};
    part.iov_len = *got;
    co_await io::sendmsg(fd, message);
  }
}

TEST_P(cares, passes_on_what_a_server_cannot_do) {
  auto rt = start();
  const silent_server failing;
  resolver names(asking(failing.address).timeout(60s).tries(1));
  auto body = [&]() -> task<> {
    auto serves = spawn(answer_with(failing.socket.get(), 2));  // SERVFAIL
    const auto error = error_of(co_await names.lookup("a.test", ip_family::v4));
    EXPECT_EQ(error, dns_errc::server_failure);
    serves.abort();
    const auto end = co_await serves.outcome();
    EXPECT_TRUE(end.stopped());
  };
  rt.block_on(body());
}

TEST_P(cares, says_so_if_there_is_no_descriptor) {
  auto rt = start();
  resolver names(options());
  auto body = [](resolver& at) -> task<> {
    co_await at.lookup("four.test");
    {
      const skua_test::fd_limit none;
      const auto error = error_of(co_await at.lookup("a.test"));
      EXPECT_EQ(error, std::errc::too_many_files_open);
    }
    EXPECT_TRUE((co_await at.lookup("a.test")).has_value());
  };
  rt.block_on(body(names));
}

TEST_P(cares, is_asked_by_several_runtimes_at_once) {
  auto rt = start();
  auto other = skua_test::started(skua_test::two_workers.settings());
  resolver names(options());
  auto find_all = [](resolver& at) -> task<int> {
    int good = 0;
    for (int i = 0; i < 50; ++i) {
      const auto found = co_await at.lookup("n" + std::to_string(i) + ".many.test");
      good += found ? 1 : 0;
    }
    co_return good;
  };
  auto beside = other.spawn(find_all(names));
  EXPECT_EQ(rt.block_on(find_all(names)), 50);
  auto join = [](skua::join_handle<int> what) -> task<int> { co_return co_await std::move(what); };
  EXPECT_EQ(rt.block_on(join(std::move(beside))), 50);
}

}  // namespace
