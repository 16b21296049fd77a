// tests/net/bind_for_each_worker_test.cpp: connections are spread over workers, and stay there.
#include "skua/net/bind_for_each_worker.hpp"

#include "skua/skua.hpp"
#include "support/errors.hpp"
#include "support/open_fds.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace {

namespace net = skua::net;
using skua::or_throw;
using skua::task;
using skua::this_worker;
using skua_test::error_of;

constexpr std::size_t connections = 200;

class listeners_of_workers : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, listeners_of_workers, skua_test::every_kind(),
                         skua_test::name_of_kind);

struct counts {
  explicit counts(std::size_t workers) : served(workers) {}
  std::vector<std::atomic<std::size_t>> served;
  std::atomic<std::size_t> strayed = 0;
};

TEST_P(listeners_of_workers, share_the_connections_to_one_port) {
  auto rt = start();
  counts all(rt.workers());
  skua::event over;
  const auto echoes = [&](net::tcp_stream peer) -> task<skua::result<void>> {
    const auto home = this_worker();
    std::byte one[1];
    const auto got = co_await peer.read(one);
    if (got && *got == 1) static_cast<void>(co_await skua::io::write_all(peer, one));
    if (home) ++all.served[*home];
    if (GetParam().is_placed() && this_worker() != home) ++all.strayed;
    co_return {};
  };
  const auto asks = [&](net::socket_address at) -> task<> {
    for (std::size_t i = 0; i < connections; ++i) {
      auto stream = or_throw(co_await net::tcp_stream::connect(at));
      std::byte one[1] = {std::byte{7}};
      or_throw(co_await skua::io::write_all(stream, one));
      EXPECT_EQ(or_throw(co_await stream.read(one)), 1U);
    }
    over.set();
  };
  const auto serves = [&]() -> task<> {
    auto mine = or_throw(net::bind_for_each_worker("127.0.0.1:0"));
    EXPECT_EQ(mine.size(), rt.workers());
    const auto at = or_throw(mine.front().local_address());
    for (const net::tcp_listener& one : mine) EXPECT_EQ(or_throw(one.local_address()), at);
    auto client = skua::spawn(asks(at));
    const auto serve_mine = [&]() -> task<> {
      or_throw(
          co_await skua::serve(mine[*this_worker()], echoes, skua::serve_options(), over.wait()));
    };
    co_await skua::on_each_worker(serve_mine);
    co_await std::move(client);
  };
  rt.block_on(serves);
  std::size_t sum = 0;
  for (const auto& one : all.served) sum += one;
  EXPECT_EQ(sum, connections);
  EXPECT_EQ(all.strayed, 0U) << "a connection is served where it came in";
  if (!GetParam().is_placed()) return;  // the others move the handlers
  for (const auto& one : all.served)
    EXPECT_GE(one, connections / rt.workers() / 2) << "by a hash: half of its share at least";
}

TEST_P(listeners_of_workers, are_all_bound_or_none) {
  auto rt = start();
  const auto binds = [&]() -> task<> {
    EXPECT_EQ(error_of(net::bind_for_each_worker("no address")), std::errc::invalid_argument);
    auto taken = or_throw(net::tcp_listener::bind("127.0.0.1:0"));  // alone on its port
    const std::size_t before = skua_test::open_fds();
    EXPECT_EQ(error_of(net::bind_for_each_worker(or_throw(taken.local_address()))),
              std::errc::address_in_use);
    EXPECT_EQ(skua_test::open_fds(), before);
    co_return;
  };
  rt.block_on(binds);
}

TEST(listeners_of_workers, need_a_runtime) {
  EXPECT_THROW(static_cast<void>(net::bind_for_each_worker("127.0.0.1:0")), std::logic_error);
}

}  // namespace
