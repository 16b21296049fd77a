// tools/skua/micro.hpp: small measurements of skua itself.
#pragma once

#include <skua/coro/task.hpp>

#include <cstdint>
#include <span>

namespace skua_tool {

struct micro {
  const char* name;
  const char* what;
  /// Does it so many times, in one task of a runtime.
  skua::task<> (*run)(std::uint64_t times);
};

[[nodiscard]] std::span<const micro> all_micros() noexcept;

}  // namespace skua_tool
