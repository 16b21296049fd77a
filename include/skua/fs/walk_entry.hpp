// skua/fs/walk_entry.hpp: one thing that was found in a tree of directories.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/fs/file_kind.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace skua::inline SKUA_ABI::fs {

/// A value. What it names may be gone by now.
class walk_entry {
public:
  /// Made by walk().
  walk_entry(std::string path, std::size_t name_length, file_kind kind, std::size_t depth,
             std::error_code error = {}) noexcept
      : path_(std::move(path)),
        name_length_(name_length),
        depth_(depth),
        error_(error),
        kind_(kind) {}

  /// Begins with the path that walk() was given.
  [[nodiscard]] const std::string& path() const& noexcept { return path_; }
  /// The same, moved out.
  [[nodiscard]] std::string path() && noexcept { return std::move(path_); }
  /// The last part of it.
  [[nodiscard]] std::string_view name() const noexcept {
    return std::string_view(path_).substr(path_.size() - name_length_);
  }
  /// If links are followed: of what it leads to, and `symlink` if it leads nowhere.
  [[nodiscard]] file_kind kind() const noexcept { return kind_; }
  /// 1 for what is in the directory itself; 0 for that directory, of which only errors are given.
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  /// Not zero: this directory, which was given before unless depth() is 0, could not be read, or
  /// not to its end.
  [[nodiscard]] std::error_code error() const noexcept { return error_; }

private:
  std::string path_;
  std::size_t name_length_;
  std::size_t depth_;
  std::error_code error_;
  file_kind kind_;
};

}  // namespace skua::inline SKUA_ABI::fs
