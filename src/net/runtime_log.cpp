// src/net/runtime_log.cpp: the logger of the settings.
#include "net/runtime_log.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"

namespace skua::inline SKUA_ABI::net {

logger log_here() noexcept {
  const core* const here = current().runtime;
  return here != nullptr ? here->settings().log : logger::silent();
}

}  // namespace skua::inline SKUA_ABI::net
