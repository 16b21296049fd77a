// src/net/unix_address.cpp: a path needs no prefix where nothing else can be meant.
#include "net/unix_address.hpp"

#include "skua/base/error.hpp"

namespace skua::inline SKUA_ABI::net {

result<socket_address> parse_unix(std::string_view text) {
  if (text.starts_with("unix:")) return socket_address::parse(text);
  return socket_address::unix_path(text);
}

result<void> expect_unix(const socket_address& at) noexcept {
  if (at.is_unix()) return {};
  return fail(std::errc::address_family_not_supported);
}

}  // namespace skua::inline SKUA_ABI::net
