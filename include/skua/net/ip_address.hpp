// skua/net/ip_address.hpp: an address of the internet protocol, version 4 or 6.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace skua::inline SKUA_ABI::net {

/// A value: copied, compared and kept as one likes. An IPv6 address has a scope, the number of a
/// network interface, which is 0 for all but those that mean something else on each link.
/// Nothing here suspends; any thread may call all of it.
class [[gnu::visibility("default")]] ip_address {
public:
  using v4_bytes = std::array<std::uint8_t, 4>;   ///< in the order in which they are written
  using v6_bytes = std::array<std::uint8_t, 16>;  ///< in the order in which they are written

  /// 0.0.0.0
  constexpr ip_address() = default;
  /// As they are sent: 127 first for 127.0.0.1.
  constexpr explicit ip_address(const v4_bytes& bytes) noexcept {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes_[i] = bytes[i];
  }
  /// Version 6. `scope`: the number of the interface that a link-local address is of; 0: none.
  constexpr explicit ip_address(const v6_bytes& bytes, std::uint32_t scope = 0) noexcept
      : is_v6_(true), bytes_(bytes), scope_(scope) {}

  /// a.b.c.d
  [[nodiscard]] static constexpr ip_address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c,
                                               std::uint8_t d) noexcept {
    return ip_address(v4_bytes{a, b, c, d});
  }
  /// 0.0.0.0: all interfaces, to whoever binds to it.
  [[nodiscard]] static constexpr ip_address v4_any() noexcept { return {}; }
  /// 127.0.0.1
  [[nodiscard]] static constexpr ip_address v4_loopback() noexcept { return v4(127, 0, 0, 1); }
  /// `::`: all interfaces, to whoever binds to it.
  [[nodiscard]] static constexpr ip_address v6_any() noexcept { return ip_address(v6_bytes{}); }
  /// `::1`
  [[nodiscard]] static constexpr ip_address v6_loopback() noexcept {
    v6_bytes one{};
    one.back() = 1;
    return ip_address(one);
  }

  /// `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0` or `fe80::1%2`; four decimal numbers without
  /// leading zeros, or what RFC 4291 allows. Nothing before or behind it, and no name of a host.
  /// Errors: std::errc::invalid_argument for what is no address; no_such_device if no interface has
  /// the name behind the `%`, for which the kernel is asked (it does not block).
  [[nodiscard]] static result<ip_address> parse(std::string_view text);

  /// What parse() takes, in the form of RFC 5952. A scope is written as a number, since that is
  /// true whatever the interface is called.
  [[nodiscard]] std::string to_string() const;

  /// Version 4.
  [[nodiscard]] constexpr bool is_v4() const noexcept { return !is_v6_; }
  /// Version 6, also if an address of version 4 is mapped into it.
  [[nodiscard]] constexpr bool is_v6() const noexcept { return is_v6_; }

  /// 0.0.0.0 or ::, "any" to whoever binds to it.
  [[nodiscard]] constexpr bool is_any() const noexcept { return bytes_ == v6_bytes{}; }
  /// 127.0.0.0/8, ::1; also the former mapped into IPv6.
  [[nodiscard]] constexpr bool is_loopback() const noexcept {
    const ip_address plain = unmapped();
    if (plain.is_v4()) return plain.bytes_[0] == 127;
    return plain.bytes_ == v6_loopback().bytes_;
  }
  /// 224.0.0.0/4, ff00::/8.
  [[nodiscard]] constexpr bool is_multicast() const noexcept {
    return is_v6_ ? bytes_[0] == 0xff : bytes_[0] >> 4U == 0xe;
  }
  /// 169.254.0.0/16, fe80::/10: known on one link only, so that an IPv6 one needs a scope.
  [[nodiscard]] constexpr bool is_link_local() const noexcept {
    if (is_v6_) return bytes_[0] == 0xfe && bytes_[1] >> 6U == 2;
    return bytes_[0] == 169 && bytes_[1] == 254;
  }
  /// 0:0:0:0:0:ffff:0:0/96, an IPv4 address as a socket for both versions shows it.
  [[nodiscard]] constexpr bool is_v4_mapped() const noexcept {
    if (!is_v6_ || bytes_[10] != 0xff || bytes_[11] != 0xff) return false;
    for (std::size_t i = 0; i < 10; ++i)
      if (bytes_[i] != 0) return false;
    return true;
  }
  /// The IPv4 address if it is a mapped one, otherwise itself.
  [[nodiscard]] constexpr ip_address unmapped() const noexcept {
    if (!is_v4_mapped()) return *this;
    return v4(bytes_[12], bytes_[13], bytes_[14], bytes_[15]);
  }

  /// Only if is_v4(); anything else ends the program.
  [[nodiscard]] v4_bytes to_v4() const noexcept;
  /// Itself, or the mapped form of an IPv4 address.
  [[nodiscard]] v6_bytes to_v6() const noexcept;

  /// 0: none.
  [[nodiscard]] constexpr std::uint32_t scope() const noexcept { return scope_; }
  /// The same address with another scope. Only if is_v6(); anything else ends the program.
  [[nodiscard]] ip_address with_scope(std::uint32_t scope) const noexcept;

  /// Those of version 4 come first, then by their bytes. A mapped address is not the same as the
  /// plain one.
  friend constexpr auto operator<=>(const ip_address&, const ip_address&) noexcept = default;
  /// Of the same version, with the same bytes and scope.
  friend constexpr bool operator==(const ip_address&, const ip_address&) noexcept = default;

private:
  bool is_v6_ = false;
  v6_bytes bytes_{};  // the first four, if version 4
  std::uint32_t scope_ = 0;
};

}  // namespace skua::inline SKUA_ABI::net
