// src/coro/stop_watch.hpp: the standard stop source behind a context's stop token.
#pragma once

#include "skua/base/abi.hpp"

#include <stop_token>

namespace skua::inline SKUA_ABI {

struct stop_watch {
  std::stop_source source;
};

/// Runs the token's callbacks on the calling thread.
inline void tell_stop(stop_watch& watch) noexcept {
  watch.source.request_stop();
}

}  // namespace skua::inline SKUA_ABI
