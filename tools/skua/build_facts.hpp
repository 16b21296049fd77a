// tools/skua/build_facts.hpp: what this program was built from, and with what.
#pragma once

#include <string_view>

namespace skua_tool::build_facts {

// CMake fills them in: see build_facts.cpp.in.
extern const std::string_view version;     // 0.1.0
extern const std::string_view compiler;    // Clang 19.1.4
extern const std::string_view build_type;  // RelWithDebInfo
extern const std::string_view sanitizers;  // address,undefined; or nothing

}  // namespace skua_tool::build_facts
