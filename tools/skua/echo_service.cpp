// tools/skua/echo_service.cpp: what an echo server does with a connection.
#include "echo_service.hpp"

#include "failure.hpp"

#include <skua/coro/or_return.hpp>
#include <skua/net/idle_limited.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace skua_tool {
namespace {

using limited_stream = skua::net::idle_limited<skua::net::tcp_stream>;

skua::task<skua::result<void>> echo_to(limited_stream peer) {
  std::array<std::byte, 16'384> buffer;
  for (;;) {
    const std::size_t n = co_await skua::or_return(co_await peer.read(buffer));
    if (n == 0) co_return {};
    co_await skua::or_return(co_await peer.write_all(std::span(buffer).first(n)));
  }
}

}  // namespace

skua::task<skua::result<void>> echo_service::operator()(skua::net::tcp_stream peer) const {
  return echo_to(limited_stream(std::move(peer), idle));
}

skua::net::tcp_listener listen_at(const std::string& address) {
  const auto parsed = skua::net::socket_address::parse(address);
  if (!parsed || !parsed->is_ip())
    throw failure("'" + address + "' is no address to listen at; write 127.0.0.1:7000 or [::]:0");
  auto made = skua::net::tcp_listener::bind(*parsed, skua::net::listen_options().nodelay(true));
  if (!made) throw failure("cannot listen at " + address + ": " + made.error().message());
  return std::move(*made);
}

}  // namespace skua_tool
