// src/net/tcp_stream.cpp: connects, and sets options.
#include "skua/net/tcp_stream.hpp"

#include "io/socket_calls.hpp"
#include "net/socket_options.hpp"
#include "skua/base/error.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/io/socket.hpp"
#include "skua/net/connect.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <limits>

namespace skua::inline SKUA_ABI::net {
namespace {

constexpr std::int64_t second = 1'000'000'000;

// Rounded up.
int whole_seconds(time_span length) noexcept {
  const std::int64_t count = length.count() / second + (length.count() % second > 0 ? 1 : 0);
  return static_cast<int>(std::clamp<std::int64_t>(count, 0, std::numeric_limits<int>::max()));
}

result<void> set_if_given(int fd, int name, int value) noexcept {
  if (value == 0) return {};
  return io::set_option(fd, IPPROTO_TCP, name, value);
}

// The port is chosen when it connects, when the other side is known: so one port can be used for
// many of them.
result<void> bind_without_port(int fd, const socket_address& from) noexcept {
  if (from.port() == 0) {
    const auto done = io::set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    if (!done) return done;
  }
  return io::bind_socket(fd, from.data(), from.size());
}

task<result<tcp_stream>> stream_of(task<result<io::descriptor>> connecting) {
  co_return tcp_stream(co_await or_return(co_await std::move(connecting)));
}

}  // namespace

task<result<tcp_stream>> tcp_stream::connect(socket_address to) {
  co_await or_return(expect_ip(to));
  io::descriptor made(co_await or_return(io::new_socket(to.family(), SOCK_STREAM, IPPROTO_TCP)));
  co_await or_return(co_await io::connect(made, to.data(), to.size()));
  co_return tcp_stream(std::move(made));
}

task<result<tcp_stream>> tcp_stream::connect_from(socket_address from, socket_address to) {
  co_await or_return(expect_ip(from));
  co_await or_return(expect_ip(to));
  io::descriptor made(co_await or_return(io::new_socket(to.family(), SOCK_STREAM, IPPROTO_TCP)));
  co_await or_return(bind_without_port(made.get(), from));
  co_await or_return(co_await io::connect(made, to.data(), to.size()));
  co_return tcp_stream(std::move(made));
}

task<result<tcp_stream>> tcp_stream::connect(resolver& names, std::string_view host,
                                             std::uint16_t port, connect_options options) {
  return stream_of(net::connect(names, host, port, options));
}

task<result<tcp_stream>> tcp_stream::connect(std::string_view host, std::uint16_t port,
                                             connect_options options) {
  return stream_of(net::connect(host, port, options));
}

result<tcp_stream> tcp_stream::from_descriptor(unique_fd fd) noexcept {
  if (const auto is = io::expect_socket(fd.get(), AF_UNSPEC, SOCK_STREAM); !is)
    return fail(is.error());
  if (const auto done = io::make_usual(fd.get()); !done) return fail(done.error());
  return tcp_stream(std::move(fd));
}

result<void> tcp_stream::set_nodelay(bool on) noexcept {
  return io::set_option(get(), IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0);
}

result<bool> tcp_stream::nodelay() const noexcept {
  return flag(get(), IPPROTO_TCP, TCP_NODELAY);
}

result<void> tcp_stream::set_keepalive(const keepalive& how) noexcept {
  if (const auto done = set_if_given(get(), TCP_KEEPIDLE, whole_seconds(how.idle())); !done)
    return done;
  if (const auto done = set_if_given(get(), TCP_KEEPINTVL, whole_seconds(how.interval())); !done)
    return done;
  if (const auto done = set_if_given(get(), TCP_KEEPCNT, how.count()); !done) return done;
  return set_keepalive(true);
}

result<void> tcp_stream::set_keepalive(bool on) noexcept {
  return io::set_option(get(), SOL_SOCKET, SO_KEEPALIVE, on ? 1 : 0);
}

result<bool> tcp_stream::is_kept_alive() const noexcept {
  return flag(get(), SOL_SOCKET, SO_KEEPALIVE);
}

result<void> tcp_stream::set_linger(std::optional<time_span> how_long) noexcept {
  ::linger how{};
  if (how_long) {
    how.l_onoff = 1;
    how.l_linger = whole_seconds(*how_long);
  }
  return io::set_option(get(), SOL_SOCKET, SO_LINGER, &how, sizeof how);
}

result<std::optional<time_span>> tcp_stream::linger() const noexcept {
  ::linger how{};
  const auto got = io::get_option(get(), SOL_SOCKET, SO_LINGER, &how, sizeof how);
  if (!got) return fail(got.error());
  if (how.l_onoff == 0) return std::optional<time_span>();
  return std::optional(time_span::of_nanoseconds(how.l_linger * second));
}

result<void> tcp_stream::set_ttl(int hops) noexcept {
  return set_hops(get(), hops);
}

result<int> tcp_stream::ttl() const noexcept {
  return hops(get());
}

}  // namespace skua::inline SKUA_ABI::net
