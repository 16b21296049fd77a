// src/base/check.cpp: report a broken invariant and stop.
#include "skua/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace skua::inline SKUA_ABI {

void check_failed(const char* invariant, std::source_location where) noexcept {
  std::fprintf(stderr, "%s:%u: %s: broken invariant: %s\n", where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name(), invariant);
  std::abort();
}

}  // namespace skua::inline SKUA_ABI
