// src/net/unix_address.hpp: Unix addresses from texts, and sockets bound to them.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/net/socket_address.hpp"

#include <string_view>

namespace skua::inline SKUA_ABI::net {

/// `unix:...` as socket_address::parse() takes it, or a plain path.
[[nodiscard]] result<socket_address> parse_unix(std::string_view text);

/// AF_UNIX passes; address_family_not_supported for all else.
[[nodiscard]] result<void> expect_unix(const socket_address& at) noexcept;

}  // namespace skua::inline SKUA_ABI::net
