// src/net/host_name.hpp: what a name of a host looks like.
#pragma once

#include "skua/base/abi.hpp"

#include <string>
#include <string_view>

namespace skua::inline SKUA_ABI::net {

/// ASCII letters only; no locale has a say.
[[nodiscard]] std::string lower_case(std::string_view name);

/// Something to ask a server for: labels of 1 to 63 printable ASCII characters, 253 in all, and
/// perhaps a dot at the end.
[[nodiscard]] bool is_host_name(std::string_view name) noexcept;

/// localhost, or beneath it. `name` is in lower case.
[[nodiscard]] bool is_localhost(std::string_view name) noexcept;

}  // namespace skua::inline SKUA_ABI::net
