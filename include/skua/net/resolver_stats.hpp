// skua/net/resolver_stats.hpp: what a resolver has done so far.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI::net {

/// Counted from its start. None ever goes down.
struct resolver_stats {
  std::uint64_t queries = 0;   ///< begun; a lookup of both versions of IP needs two
  std::uint64_t cached = 0;    ///< answered from memory
  std::uint64_t shared = 0;    ///< that joined a query which was under way
  std::size_t remembered = 0;  ///< answers, now
};

}  // namespace skua::inline SKUA_ABI::net
