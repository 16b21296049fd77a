// src/net/socket_options.cpp: which level and name an option has in which family.
#include "net/socket_options.hpp"

#include "io/socket_calls.hpp"
#include "skua/base/error.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <limits>

namespace skua::inline SKUA_ABI::net {
namespace {

result<socket_address> as_address(const result<io::raw_address>& got) noexcept {
  if (!got) return fail(got.error());
  return socket_address::of(got->data(), got->length);
}

}  // namespace

result<socket_address> local_address_of(int fd) noexcept {
  return as_address(io::local_name(fd));
}

result<socket_address> peer_address_of(int fd) noexcept {
  return as_address(io::peer_name(fd));
}

result<void> set_buffer_size(int fd, int name, std::size_t bytes) noexcept {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  return io::set_option(fd, SOL_SOCKET, name, static_cast<int>(std::min(bytes, most)));
}

result<std::size_t> buffer_size(int fd, int name) noexcept {
  const result<int> got = io::get_option(fd, SOL_SOCKET, name);
  if (!got) return fail(got.error());
  return static_cast<std::size_t>(*got);
}

result<bool> flag(int fd, int level, int name) noexcept {
  const result<int> got = io::get_option(fd, level, name);
  if (!got) return fail(got.error());
  return *got != 0;
}

// An IPv6 socket may have an IPv4 connection, so both are set there.
result<void> set_hops(int fd, int hops) noexcept {
  const result<int> family = io::get_option(fd, SOL_SOCKET, SO_DOMAIN);
  if (!family) return fail(family.error());
  if (*family == AF_INET6) {
    const result<void> done = io::set_option(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, hops);
    if (!done) return done;
  }
  return io::set_option(fd, IPPROTO_IP, IP_TTL, hops);
}

result<int> hops(int fd) noexcept {
  const result<int> family = io::get_option(fd, SOL_SOCKET, SO_DOMAIN);
  if (!family) return family;
  if (*family == AF_INET6) return io::get_option(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS);
  return io::get_option(fd, IPPROTO_IP, IP_TTL);
}

result<void> expect_ip(const socket_address& at) noexcept {
  if (at.is_ip()) return {};
  return fail(std::errc::address_family_not_supported);
}

}  // namespace skua::inline SKUA_ABI::net
