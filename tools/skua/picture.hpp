// tools/skua/picture.hpp: a histogram drawn with characters.
#pragma once

#include "latencies.hpp"
#include "terminal.hpp"

#include <string>

namespace skua_tool {

/// A heading, and a line for each range of times in which something was counted, and those between:
/// at most 24, none wider than 80 columns. Empty if nothing was counted.
[[nodiscard]] std::string picture_of(const latency_counts& counts, const terminal& where);

}  // namespace skua_tool
