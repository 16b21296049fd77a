// tests/net/many_connections_test.cpp: ten thousand connections at a time, and what each costs.
#include "skua/base/sanitizer.hpp"
#include "skua/skua.hpp"
#include "support/forked.hpp"
#include "support/open_fds.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/streams.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
using net::socket_address;
using net::tcp_listener;
using net::tcp_stream;
using skua::task;
using skua_test::address_of;
using skua_test::bytes_of;
using skua_test::comes_true;
using skua_test::open_fds;

constexpr std::size_t connections = skua::built_with_asan || skua::built_with_tsan ? 500 : 10'000;
constexpr std::size_t per_address = 5'000;  // of the client's: no port is used twice
constexpr std::size_t spare = 100;          // descriptors for all else

/// One process has the server, another one the clients, so that each needs one descriptor for a
/// connection.
bool has_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= connections + spare) return true;
  limit.rlim_cur = limit.rlim_max;
  return limit.rlim_max >= connections + spare && ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/// Bytes of this process that are in memory and nobody else's.
std::size_t memory_used() {
  std::ifstream from("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  std::size_t shared = 0;
  from >> total >> resident >> shared;
  return (resident - shared) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// --- clients

task<> connects(socket_address to, std::size_t number, std::vector<tcp_stream>& into) {
  const auto host = static_cast<std::uint8_t>(2 + number / per_address);
  const socket_address from(net::ip_address::v4(127, 0, 0, host), 0);
  auto made = co_await tcp_stream::connect_from(from, to);
  into.push_back(skua::or_throw(std::move(made), "connect"));
}

task<> asks(tcp_stream& one, std::size_t number) {
  const std::string question = "connection " + std::to_string(number);
  skua::or_throw(co_await one.write_all(bytes_of(question)), "write");
  std::array<std::byte, 64> into;
  std::size_t have = 0;
  while (have < question.size()) {
    const std::size_t got =
        skua::or_throw(co_await skua::timeout(60s, one.read(std::span(into).subspan(have))));
    if (got == 0) break;
    have += got;
  }
  const std::string answer = skua_test::text_of(std::span(into).first(have));
  if (answer != question) throw std::runtime_error("wrong answer: " + answer);
}

/// All of them stay open while each asks twice: before and after the server has looked at itself.
task<int> clients(socket_address to, int say, int hear) {
  std::vector<tcp_stream> all;
  for (std::size_t i = 0; i < connections; ++i) co_await connects(to, i, all);
  for (int round = 0; round < 2; ++round) {
    skua::task_group<> running(256);
    for (std::size_t i = 0; i < connections; ++i) running.spawn(asks, std::ref(all[i]), i);
    co_await running.join_all();
    skua::or_throw(co_await skua::io::write(say, bytes_of("!")));
    std::array<std::byte, 1> byte;
    skua::or_throw(co_await skua::io::read(hear, byte));
  }
  co_return 0;
}

// --- the server

struct server {
  tcp_listener at = skua_test::loopback_listener();
  skua_test::pipe_pair to_clients;
  skua_test::pipe_pair from_clients;
  skua::serve_counters counters;
  skua::event end;
};

task<skua::result<void>> echo(tcp_stream peer) {
  std::array<std::byte, 64> buffer;
  for (;;) {
    const std::size_t n = co_await skua::or_return(co_await peer.read(buffer));
    if (n == 0) co_return {};
    co_await skua::or_return(co_await peer.write_all(std::span(buffer).first(n)));
  }
}

task<> ends(skua::event& when) {
  co_await when.wait();
}

/// Waits for the clients to have done something, and lets them go on.
task<> step(const server& all) {
  std::array<std::byte, 1> byte;
  const auto got = co_await skua::timeout(100s, skua::io::read(all.from_clients.out(), byte));
  EXPECT_EQ(got.value_or(0), 1U) << "the clients have failed";
}
task<> let_go_on(const server& all) {
  co_await skua::io::write(all.to_clients.in(), bytes_of("!"));
}

task<skua::serve_report> serves(server& all) {
  const std::size_t before = memory_used();
  const auto how = skua::serve_options().max_connections(connections).count_in(all.counters);
  auto serving = skua::spawn(skua::serve(all.at, echo, how, ends(all.end)));
  co_await step(all);
  const skua::serve_report now = all.counters.snapshot();
  EXPECT_EQ(now.accepted, connections);
  EXPECT_EQ(now.open(), connections) << "all at the same time";
  const std::size_t used = memory_used() - before;
  std::printf("%zu idle connections: %zu KiB, %zu bytes each\n", connections, used / 1024,
              used / connections);
  co_await let_go_on(all);
  co_await step(all);
  co_await let_go_on(all);
  EXPECT_TRUE(co_await comes_true([&all] { return all.counters.snapshot().open() == 0; }));
  all.end.set();
  co_return skua::or_throw(co_await std::move(serving));
}

TEST(many_connections, are_all_served_at_the_same_time_and_none_is_leaked) {
  if (!has_descriptors()) GTEST_SKIP() << "needs " << connections + spare << " descriptors";
  server all;
  skua_test::forked child;
  if (child.fork()) {
    ::alarm(100);
    auto rt = skua_test::started(skua_test::alone.settings());
    ::_exit(rt.block_on(clients(address_of(all.at), all.from_clients.in(), all.to_clients.out())));
  }
  all.from_clients.close_in();  // if they fail, we hear of it
  all.to_clients.close_out();
  const std::size_t before = open_fds();
  {
    skua_test::log_recorder log;
    auto rt = skua_test::started(skua_test::two_workers, log);
    const skua::serve_report how = rt.block_on(serves(all));
    EXPECT_EQ(how.succeeded, connections);
    EXPECT_EQ(how.pauses, 0U);
    // A worker that gets no time from the kernel is told of, and is nobody's fault here.
    EXPECT_EQ(log.size(), log.count("a task holds its worker"));
  }
  EXPECT_EQ(open_fds(), before);
  child.join();
  EXPECT_TRUE(child.exited_well()) << child.end();
}

}  // namespace
