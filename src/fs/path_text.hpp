// src/fs/path_text.hpp: what a path says, before the kernel is asked.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"

#include <string>
#include <string_view>

namespace skua::inline SKUA_ABI::fs {

/// The kernel would see the part before a zero byte only, which is another file.
[[nodiscard]] inline result<void> checked(std::string_view path) noexcept {
  if (path.find('\0') != std::string_view::npos) return fail(std::errc::invalid_argument);
  return {};
}

/// The directory that the last part of `path` is in.
[[nodiscard]] inline std::string directory_of(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  if (slash == 0) return "/";
  return std::string(path.substr(0, slash));
}

/// `name` in `directory`.
[[nodiscard]] inline std::string joined(std::string_view directory, std::string_view name) {
  std::string made;
  made.reserve(directory.size() + 1 + name.size());
  made = directory;
  if (!made.empty() && made.back() != '/') made += '/';
  made += name;
  return made;
}

}  // namespace skua::inline SKUA_ABI::fs
