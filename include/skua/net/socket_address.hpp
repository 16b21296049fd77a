// skua/net/socket_address.hpp: where a socket is: IP address and port, or a Unix name.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/net/ip_address.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct sockaddr;

namespace skua::inline SKUA_ABI::net {

/// A value, in the form in which the kernel takes it; 120 bytes, and nothing allocated. Nothing
/// here suspends; any thread may call all of it.
class [[gnu::visibility("default")]] socket_address {
public:
  /// Nowhere: of the family AF_UNSPEC.
  socket_address() noexcept;
  /// A place of the internet.
  socket_address(const ip_address& address, std::uint16_t port) noexcept;

  /// A Unix socket that has a name in the file system. Errors: std::errc::invalid_argument if it is
  /// empty or has a zero in it, filename_too_long from 108 bytes on.
  [[nodiscard]] static result<socket_address> unix_path(std::string_view path);
  /// A Unix socket whose name is no file's; any bytes. Errors: invalid_argument if it is empty,
  /// filename_too_long from 108 bytes on.
  [[nodiscard]] static result<socket_address> unix_abstract(std::string_view name);
  /// A Unix socket that was bound to no name, as the other end of a pair shows it.
  [[nodiscard]] static socket_address unix_unnamed() noexcept;

  /// `127.0.0.1:80`, `[::1]:80`, `[fe80::1%eth0]:80`, `unix:/run/x.sock`, or `unix:@name` for an
  /// abstract one; `\x` and two digits stand for any byte of a Unix name. No names of hosts.
  /// Errors: invalid_argument, and those of ip_address::parse(), unix_path() and unix_abstract().
  [[nodiscard]] static result<socket_address> parse(std::string_view text);

  /// What parse() takes, except for `unix:` (unnamed) and `unspecified`. The names of Unix sockets,
  /// which strangers may choose, have nothing unprintable in them.
  [[nodiscard]] std::string to_string() const;

  /// From what the kernel has filled in. Errors: invalid_argument if `length` is too short for the
  /// family, address_family_not_supported if it is none of ours.
  [[nodiscard]] static result<socket_address> of(const sockaddr* from, std::size_t length) noexcept;

  /// AF_INET, AF_INET6, AF_UNIX or AF_UNSPEC.
  [[nodiscard]] int family() const noexcept;
  /// It has an IP address and a port.
  [[nodiscard]] bool is_ip() const noexcept;
  /// It is a Unix socket: with a path, with an abstract name, or without a name.
  [[nodiscard]] bool is_unix() const noexcept;

  /// Only if is_ip(); anything else ends the program.
  [[nodiscard]] ip_address ip() const noexcept;
  /// Only if is_ip(); anything else ends the program.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The same IP address with another port. Only if is_ip(), likewise.
  [[nodiscard]] socket_address with_port(std::uint16_t port) const noexcept;

  /// Empty if it is no Unix socket with a path. A view into this object.
  [[nodiscard]] std::string_view path() const noexcept;
  /// Empty if it is no abstract one. A view into this object.
  [[nodiscard]] std::string_view abstract_name() const noexcept;

  /// For bind(2), connect(2) and sendmsg(2), as long as this object lives and is not assigned to.
  [[nodiscard]] const sockaddr* data() const noexcept;
  /// Of data(), in bytes.
  [[nodiscard]] unsigned size() const noexcept { return size_; }

  /// The same place; the order says nothing more than that there is one.
  friend auto operator<=>(const socket_address&, const socket_address&) noexcept = default;
  /// The same place.
  friend bool operator==(const socket_address&, const socket_address&) noexcept = default;

private:
  static constexpr std::size_t room = 112;  // a Unix socket's, rounded up

  template <typename System>
  void put(const System& from, std::size_t length) noexcept;
  template <typename System>
  [[nodiscard]] System as() const noexcept;
  [[nodiscard]] std::string_view unix_name() const noexcept;
  static socket_address of_unix(std::string_view name) noexcept;

  alignas(8) std::array<unsigned char, room> bytes_{};  // zeros behind size_
  unsigned size_ = 0;
};

}  // namespace skua::inline SKUA_ABI::net
