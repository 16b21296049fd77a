// src/net/socket_options.hpp: options that several kinds of sockets have.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/net/socket_address.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI::net {

[[nodiscard]] result<socket_address> local_address_of(int fd) noexcept;
[[nodiscard]] result<socket_address> peer_address_of(int fd) noexcept;

/// `name`: SO_SNDBUF or SO_RCVBUF.
[[nodiscard]] result<void> set_buffer_size(int fd, int name, std::size_t bytes) noexcept;
[[nodiscard]] result<std::size_t> buffer_size(int fd, int name) noexcept;

/// An option that is on or off.
[[nodiscard]] result<bool> flag(int fd, int level, int name) noexcept;

/// Of an IPv4 or IPv6 socket, whichever it is.
[[nodiscard]] result<void> set_hops(int fd, int hops) noexcept;
[[nodiscard]] result<int> hops(int fd) noexcept;

/// AF_INET or AF_INET6 passes; address_family_not_supported for all else.
[[nodiscard]] result<void> expect_ip(const socket_address& at) noexcept;

}  // namespace skua::inline SKUA_ABI::net
