// src/net/runtime_log.hpp: where the runtime that runs the calling code logs to.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/log.hpp"

namespace skua::inline SKUA_ABI::net {

/// Silent where there is no runtime.
[[nodiscard]] logger log_here() noexcept;

}  // namespace skua::inline SKUA_ABI::net
