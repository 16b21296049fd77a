// src/net/udp_socket.cpp: opens a port, and sets options of either version of IP.
#include "skua/net/udp_socket.hpp"

#include "io/socket_calls.hpp"
#include "net/socket_options.hpp"
#include "skua/base/error.hpp"

#include <netinet/in.h>

#include <cstring>

namespace skua::inline SKUA_ABI::net {
namespace {

enum class sharing : bool { alone, shared };

result<unique_fd> bound(const socket_address& at, sharing how) noexcept {
  if (const auto is = expect_ip(at); !is) return fail(is.error());
  auto made = io::new_socket(at.family(), SOCK_DGRAM, IPPROTO_UDP);
  if (!made) return made;
  const int fd = made->get();
  if (at.family() == AF_INET6)
    if (const auto done = io::set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0); !done)
      return fail(done.error());
  if (how == sharing::shared)
    for (const int name : {SO_REUSEADDR, SO_REUSEPORT})
      if (const auto done = io::set_option(fd, SOL_SOCKET, name, 1); !done)
        return fail(done.error());
  if (const auto done = io::bind_socket(fd, at.data(), at.size()); !done) return fail(done.error());
  return made;
}

result<void> change_membership(int fd, const ip_address& group, std::uint32_t interface, int v4,
                               int v6) noexcept {
  if (group.is_v6()) {
    ipv6_mreq what{};
    const auto bytes = group.to_v6();
    std::memcpy(&what.ipv6mr_multiaddr, bytes.data(), bytes.size());
    what.ipv6mr_interface = interface;
    return io::set_option(fd, IPPROTO_IPV6, v6, &what, sizeof what);
  }
  ip_mreqn what{};
  const auto bytes = group.to_v4();
  std::memcpy(&what.imr_multiaddr, bytes.data(), bytes.size());
  what.imr_ifindex = static_cast<int>(interface);
  return io::set_option(fd, IPPROTO_IP, v4, &what, sizeof what);
}

}  // namespace

result<udp_socket> udp_socket::bind(const socket_address& at) {
  auto made = bound(at, sharing::alone);
  if (!made) return fail(made.error());
  return udp_socket(std::move(*made));
}

result<udp_socket> udp_socket::bind(std::string_view at) {
  const result<socket_address> parsed = socket_address::parse(at);
  if (!parsed) return fail(parsed.error());
  return bind(*parsed);
}

result<udp_socket> udp_socket::bind_shared(const socket_address& at) {
  auto made = bound(at, sharing::shared);
  if (!made) return fail(made.error());
  return udp_socket(std::move(*made));
}

result<udp_socket> udp_socket::from_descriptor(unique_fd fd) noexcept {
  if (const auto is = io::expect_socket(fd.get(), AF_UNSPEC, SOCK_DGRAM); !is)
    return fail(is.error());
  if (const auto done = io::make_usual(fd.get()); !done) return fail(done.error());
  return udp_socket(std::move(fd));
}

result<bool> udp_socket::is_v6() const noexcept {
  const result<int> family = io::get_option(get(), SOL_SOCKET, SO_DOMAIN);
  if (!family) return fail(family.error());
  return *family == AF_INET6;
}

result<void> udp_socket::set_broadcast(bool on) noexcept {
  return io::set_option(get(), SOL_SOCKET, SO_BROADCAST, on ? 1 : 0);
}

result<bool> udp_socket::broadcast() const noexcept {
  return flag(get(), SOL_SOCKET, SO_BROADCAST);
}

result<void> udp_socket::join(const ip_address& group, std::uint32_t interface) noexcept {
  // Or Linux would deliver what anybody on this machine has joined. For IPv6 only since 4.20: where
  // that is not known, all is delivered, and nobody is worse off than without.
  if (group.is_v6()) {
    (void)io::set_option(get(), IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
  } else {
    (void)io::set_option(get(), IPPROTO_IP, IP_MULTICAST_ALL, 0);
  }
  return change_membership(get(), group, interface, IP_ADD_MEMBERSHIP, IPV6_JOIN_GROUP);
}

result<void> udp_socket::leave(const ip_address& group, std::uint32_t interface) noexcept {
  return change_membership(get(), group, interface, IP_DROP_MEMBERSHIP, IPV6_LEAVE_GROUP);
}

result<void> udp_socket::set_multicast_interface(std::uint32_t interface) noexcept {
  const result<bool> v6 = is_v6();
  if (!v6) return fail(v6.error());
  const auto number = static_cast<int>(interface);
  if (*v6) return io::set_option(get(), IPPROTO_IPV6, IPV6_MULTICAST_IF, number);
  ip_mreqn what{};
  what.imr_ifindex = number;
  return io::set_option(get(), IPPROTO_IP, IP_MULTICAST_IF, &what, sizeof what);
}

result<void> udp_socket::set_multicast_loop(bool on) noexcept {
  const result<bool> v6 = is_v6();
  if (!v6) return fail(v6.error());
  if (*v6) return io::set_option(get(), IPPROTO_IPV6, IPV6_MULTICAST_LOOP, on ? 1 : 0);
  return io::set_option(get(), IPPROTO_IP, IP_MULTICAST_LOOP, on ? 1 : 0);
}

result<bool> udp_socket::multicast_loop() const noexcept {
  const result<bool> v6 = is_v6();
  if (!v6) return v6;
  if (*v6) return flag(get(), IPPROTO_IPV6, IPV6_MULTICAST_LOOP);
  return flag(get(), IPPROTO_IP, IP_MULTICAST_LOOP);
}

result<void> udp_socket::set_multicast_ttl(int hops) noexcept {
  const result<bool> v6 = is_v6();
  if (!v6) return fail(v6.error());
  if (*v6) return io::set_option(get(), IPPROTO_IPV6, IPV6_MULTICAST_HOPS, hops);
  return io::set_option(get(), IPPROTO_IP, IP_MULTICAST_TTL, hops);
}

result<int> udp_socket::multicast_ttl() const noexcept {
  const result<bool> v6 = is_v6();
  if (!v6) return fail(v6.error());
  if (*v6) return io::get_option(get(), IPPROTO_IPV6, IPV6_MULTICAST_HOPS);
  return io::get_option(get(), IPPROTO_IP, IP_MULTICAST_TTL);
}

result<void> udp_socket::set_ttl(int hops) noexcept {
  return set_hops(get(), hops);
}

result<int> udp_socket::ttl() const noexcept {
  return hops(get());
}

}  // namespace skua::inline SKUA_ABI::net
