// src/base/result.cpp: throw what a failed result carries.
#include "skua/base/result.hpp"

namespace skua::inline SKUA_ABI {

void throw_error(const std::error_code& code, const char* what) {
  if (what == nullptr) throw std::system_error(code);
  throw std::system_error(code, what);
}

}  // namespace skua::inline SKUA_ABI
