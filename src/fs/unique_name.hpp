// src/fs/unique_name.hpp: names that nobody else has.
#pragma once

#include "io/file_call.hpp"
#include "skua/base/abi.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace skua::inline SKUA_ABI::fs {

/// How often to try another one before giving up with std::errc::file_exists.
inline constexpr int name_attempts = 16;

/// `prefix`, sixteen random letters and digits, `suffix`.
[[nodiscard]] inline std::string unique_name(std::string_view prefix, std::string_view suffix) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made(prefix);
  std::uint64_t number = file_call::random_number();
  for (int i = 0; i < 16; ++i, number >>= 4U) made += digits[number & 0xfU];
  made += suffix;
  return made;
}

}  // namespace skua::inline SKUA_ABI::fs
