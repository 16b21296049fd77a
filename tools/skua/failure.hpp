// tools/skua/failure.hpp: what ends a command with one line on standard error.
#pragma once

#include <stdexcept>

namespace skua_tool {

/// Its text is that line, without "skua: " before it. The exit code is 2.
class failure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

}  // namespace skua_tool
