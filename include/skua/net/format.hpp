// skua/net/format.hpp: addresses in std::format(), for standard libraries that have it.
#pragma once

// Not part of skua.hpp: libstdc++ has <format> from version 13 on, and whoever has an older one
// does not include this header.

#include "skua/base/abi.hpp"
#include "skua/net/ip_address.hpp"
#include "skua/net/socket_address.hpp"

#include <format>
#include <string_view>

namespace skua::inline SKUA_ABI::net {

/// Writes what to_string() gives; takes what std::format() takes for text: `{:>40}`.
template <typename Address>
struct address_formatter : std::formatter<std::string_view> {
  /// What std::format() calls.
  template <typename Context>
  auto format(const Address& address, Context& to) const {
    return std::formatter<std::string_view>::format(address.to_string(), to);
  }
};

}  // namespace skua::inline SKUA_ABI::net

template <>
struct std::formatter<skua::net::ip_address> : skua::net::address_formatter<skua::net::ip_address> {
};

template <>
struct std::formatter<skua::net::socket_address>
    : skua::net::address_formatter<skua::net::socket_address> {};
