// skua/net/ip_family.hpp: which version of the internet protocol is wanted.
#pragma once

#include "skua/base/abi.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI::net {

/// Which addresses of a name a resolver asks for.
enum class ip_family : std::uint8_t {
  any,  ///< both, as far as there are
  v4,   ///< version 4 only
  v6,   ///< version 6 only
};

}  // namespace skua::inline SKUA_ABI::net
