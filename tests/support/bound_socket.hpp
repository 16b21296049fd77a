// tests/support/bound_socket.hpp: a socket at a port of the kernel's choice.
#pragma once

#include "skua/driver/unique_fd.hpp"
#include "skua/net/ip_address.hpp"
#include "skua/net/socket_address.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace skua_test {

/// The address of a socket, by getsockname() or getpeername(); nowhere if it has none.
inline skua::net::socket_address name_of(int fd, int (*which)(int, sockaddr*, socklen_t*)) {
  using skua::net::socket_address;
  sockaddr_storage room{};
  socklen_t length = sizeof room;
  auto* const system = reinterpret_cast<sockaddr*>(&room);
  if (which(fd, system, &length) != 0) return {};
  return socket_address::of(system, length).value_or(socket_address());
}

/// Nobody listens there if it is one of TCP; one of UDP answers nothing.
struct bound_socket {
  explicit bound_socket(int type, const skua::net::ip_address& at)
      : socket(::socket(at.is_v4() ? AF_INET : AF_INET6, type | SOCK_CLOEXEC, 0)) {
    const skua::net::socket_address any(at, 0);
    EXPECT_EQ(::bind(socket.get(), any.data(), any.size()), 0);
    address = name_of(socket.get(), ::getsockname);
  }
  skua::unique_fd socket;
  skua::net::socket_address address;
};

/// What is sent there is refused, since it hears nobody but itself; and as long as it lives no
/// other process gets the port.
struct deaf_socket : bound_socket {
  explicit deaf_socket(const skua::net::ip_address& at) : bound_socket(SOCK_DGRAM, at) {
    EXPECT_EQ(::connect(socket.get(), address.data(), address.size()), 0);
  }
};

}  // namespace skua_test
