// tools/skua/seconds.hpp: seconds of the command line as a length of time.
#pragma once

#include <skua/time/time_span.hpp>

#include <cstdint>

namespace skua_tool {

[[nodiscard]] inline skua::time_span seconds(double count) noexcept {
  return skua::time_span::of_nanoseconds(static_cast<std::int64_t>(count * 1e9));
}

}  // namespace skua_tool
