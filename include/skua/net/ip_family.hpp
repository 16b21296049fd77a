// skua/net/ip_family.hpp: which version of the internet protocol is wanted.
#pragma once

#include "skua/base/abi.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI::net {

enum class ip_family : std::uint8_t {
  any,  ///< both, as far as there are
  v4,
  v6,
};

}  // namespace skua::inline SKUA_ABI::net
