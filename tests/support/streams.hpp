// tests/support/streams.hpp: connected streams of skua::net, and what comes out of them.
#pragma once

#include "skua/base/error.hpp"
#include "skua/coro/task.hpp"
#include "skua/net/tcp_listener.hpp"
#include "skua/net/tcp_stream.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/time/sleep.hpp"
#include "skua/time/timeout.hpp"
#include "support/pipes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace skua_test {

/// At a port of the kernel's choice.
inline skua::net::tcp_listener loopback_listener() {
  return skua::or_throw(skua::net::tcp_listener::bind("127.0.0.1:0"), "loopback_listener");
}

template <typename Listener>
skua::net::socket_address address_of(const Listener& at) {
  return skua::or_throw(at.local_address(), "local_address");
}

using tcp_streams = std::pair<skua::net::tcp_stream, skua::net::tcp_stream>;

/// The one that connected, and the one that was accepted.
inline skua::task<tcp_streams> tcp_connected() {
  skua::net::tcp_listener at = loopback_listener();
  auto first = skua::or_throw(co_await skua::net::tcp_stream::connect(address_of(at)), "connect");
  auto second = skua::or_throw(co_await at.accept(), "accept");
  co_return tcp_streams(std::move(first), std::move(second));
}

/// What one read gives; "" at the end.
template <typename Stream>
skua::task<std::string> read_text(Stream& from) {
  room<64> into;
  const auto got = co_await from.read(into.span());
  co_return into.text(got);
}

/// What one read gives, or why it gives nothing.
template <typename Stream>
skua::task<skua::result<std::string>> try_read(Stream& from) {
  room<64> into;
  const auto got = co_await from.read(into.span());
  if (!got.has_value()) co_return skua::fail(got.error());
  co_return into.text(got);
}

/// All up to the end.
template <typename Stream>
skua::task<std::string> read_to_end(Stream& from) {
  std::string all;
  std::vector<std::byte> into(65'536);
  for (;;) {
    const std::size_t got = skua::or_throw(co_await from.read(into), "read");
    if (got == 0) co_return all;
    all += text_of(std::span(into).first(got));
  }
}

template <typename Stream>
skua::task<> send_text(Stream& to, std::string_view text) {
  skua::or_throw(co_await to.write_all(bytes_of(text)), "write_all");
}

/// Starts it, stops it when it waits, and says whether it was unwound by that.
template <typename T>
skua::task<bool> can_be_stopped(skua::task<T> what) {
  using namespace std::chrono_literals;
  auto running = skua::spawn(std::move(what));
  co_await skua::sleep(2ms);
  EXPECT_FALSE(running.done()) << "nothing to wait for";
  running.abort();
  const auto how = co_await running.outcome();
  co_return how.stopped();
}

/// Waits, for a bounded time, until `holds` is true.
template <typename Condition>
skua::task<bool> comes_true(Condition holds) {
  using namespace std::chrono_literals;
  for (int i = 0; i < 60'000; ++i) {
    if (holds()) co_return true;
    co_await skua::sleep(1ms);
  }
  co_return false;
}

}  // namespace skua_test
