// src/sync/cancel_watch.hpp: the standard stop source behind a token's stop token.
#pragma once

#include "skua/base/abi.hpp"

#include <stop_token>

namespace skua::inline SKUA_ABI {

struct cancel_watch {
  std::stop_source source;
};

}  // namespace skua::inline SKUA_ABI
