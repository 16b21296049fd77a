// tests/net/serve_storm_test.cpp: more clients than there are descriptors for.
#include "skua/skua.hpp"
#include "support/fd_limit.hpp"
#include "support/open_fds.hpp"
#include "support/runtimes.hpp"
#include "support/sockets.hpp"
#include "support/streams.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
using net::socket_address;
using net::tcp_listener;
using net::tcp_stream;
using skua::serve_counters;
using skua::serve_options;
using skua::serve_report;
using skua::task;
using skua_test::address_of;
using skua_test::comes_true;
using skua_test::loopback_listener;
using skua_test::open_fds;
using skua_test::read_text;
using skua_test::send_text;

class storms : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, storms, skua_test::every_kind(), skua_test::name_of_kind);

task<> wait_for(skua::event& what) {
  co_await what.wait();
}

task<std::string> asks(socket_address to, std::string text) {
  tcp_stream one = skua::or_throw(co_await tcp_stream::connect(to));
  co_await send_text(one, text);
  co_return co_await skua_test::read_to_end(one);
}

/// Processor time of this process.
std::chrono::microseconds time_used() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& one) { return one.tv_sec * 1s + one.tv_usec * 1us; };
  return of(used.ru_utime) + of(used.ru_stime);
}

class client_crowd {
public:
  explicit client_crowd(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) all_.push_back(skua_test::new_socket(AF_INET));
  }
  void connect_to(const socket_address& at) {
    for (const skua::unique_fd& one : all_) {
      EXPECT_EQ(::connect(one.get(), at.data(), at.size()), 0);
      EXPECT_EQ(::send(one.get(), "?", 1, MSG_NOSIGNAL), 1);
    }
  }
  /// Blocks its thread.
  [[nodiscard]] std::size_t answered() const {
    std::size_t count = 0;
    for (const skua::unique_fd& one : all_) {
      pollfd waits{.fd = one.get(), .events = POLLIN, .revents = 0};
      if (::poll(&waits, 1, 60'000) != 1) continue;
      char byte = 0;
      if (::recv(one.get(), &byte, 1, 0) == 1 && byte == '!') ++count;
    }
    return count;
  }

private:
  std::vector<skua::unique_fd> all_;
};

constexpr std::size_t crowd = 300;
constexpr std::size_t room = 10;

TEST_P(storms, at_the_limit_of_descriptors_are_outlived) {
  auto rt = start();
  client_crowd clients(crowd);
  auto body = [&clients]() -> task<serve_report> {
    tcp_listener at = loopback_listener();
    skua::event end;
    skua::event begin;
    serve_counters counters;
    auto handler = [&begin](tcp_stream peer) -> task<> {
      co_await begin.wait();
      EXPECT_EQ(co_await read_text(peer), "?");
      co_await send_text(peer, "!");
    };
    auto server =
        skua::spawn(skua::serve(at, handler, serve_options().count_in(counters), wait_for(end)));
    co_await skua::sleep(1ms);
    {
      const skua_test::fd_limit limit(room);
      clients.connect_to(address_of(at));
      EXPECT_TRUE(
          co_await comes_true([&counters] { return counters.snapshot().open() >= room - 1; }));
      const auto used = time_used();
      const auto pauses = counters.snapshot().pauses;
      const skua::instant begun = skua::now();
      co_await skua::sleep(300ms);
      const auto passed = (skua::now() - begun).to<std::chrono::microseconds>();
      EXPECT_LE(counters.snapshot().open(), room);
      EXPECT_LE(time_used() - used, passed / 2) << "it does not spin";
      EXPECT_LE(counters.snapshot().pauses - pauses, static_cast<std::size_t>(passed / 10ms) + 2);
      begin.set();
      const std::size_t answered =
          co_await skua::spawn_blocking([&clients] { return clients.answered(); });
      EXPECT_EQ(answered, crowd) << "all are served, though never many at a time";
    }
    EXPECT_EQ(co_await asks(address_of(at), "?"), "!") << "and it goes on";
    end.set();
    co_return skua::or_throw(co_await std::move(server));
  };
  const std::size_t before = open_fds();
  const auto begun = std::chrono::steady_clock::now();
  const serve_report how = rt.block_on(body());
  const auto took = std::chrono::steady_clock::now() - begun;
  EXPECT_EQ(open_fds(), before);
  EXPECT_EQ(how.accepted, crowd + 1);
  EXPECT_EQ(how.succeeded, crowd + 1);
  EXPECT_GE(log.count("cannot accept"), 1U);
  EXPECT_LE(log.count("cannot accept"), 1U + static_cast<std::size_t>(took / 10s))
      << "one line in ten seconds, however many are turned away";
}

}  // namespace
