// skua/fs/directory_entry.hpp: one name in a directory.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/fs/file_kind.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace skua::inline SKUA_ABI::fs {

/// A value. What it names may be gone by now.
class directory_entry {
public:
  /// Made by read_directory().
  directory_entry(std::string name, file_kind kind, std::uint64_t inode) noexcept
      : name_(std::move(name)), inode_(inode), kind_(kind) {}

  /// Without the directory; never "." or "..". Any bytes but '/' and zero.
  [[nodiscard]] const std::string& name() const& noexcept { return name_; }
  /// The same, moved out.
  [[nodiscard]] std::string name() && noexcept { return std::move(name_); }
  /// Of the name itself: a link is a symlink. `unknown` only if it was gone when it was looked at.
  [[nodiscard]] file_kind kind() const noexcept { return kind_; }
  /// The number of the file in its file system.
  [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }

private:
  std::string name_;
  std::uint64_t inode_;
  file_kind kind_;
};

}  // namespace skua::inline SKUA_ABI::fs
