// src/fs/descent.hpp: the way from a directory down into a tree, and back up.
#pragma once

#include "io/file_call.hpp"
#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::fs {

/// Goes by one name at a time from open directory to open directory, so that nobody who moves or
/// replaces directories meanwhile can lead it out of the tree, and paths may be of any length.
/// Keeps the last 16 levels open, and finds higher ones again by "..", if that is still the same
/// directory. Everything blocks. For one thread at a time.
class descent {
public:
  /// The directory to begin with, opened with O_* `flags` besides.
  [[nodiscard]] static result<descent> begin(const char* path, int flags);

  /// The one that it is in.
  [[nodiscard]] int directory() const noexcept { return levels_.back().fd.get(); }
  /// 1 in the one that it began with.
  [[nodiscard]] std::size_t depth() const noexcept { return levels_.size(); }

  /// True in the root of everything.
  [[nodiscard]] bool is_root() const noexcept;

  /// std::errc::not_a_directory or too_many_symbolic_link_levels if it is a link and `follow` is
  /// false; the latter also if it leads to a directory that this one is beneath.
  [[nodiscard]] result<void> enter(const char* name, bool follow);
  /// Not from the first. std::errc::no_such_file_or_directory if the way back is not there.
  [[nodiscard]] result<void> leave() noexcept;

private:
  struct level {
    unique_fd fd;  // none: to be found by ".."
    file_call::identity which;
    bool by_link = false;  // whose ".." is not the level above
  };
  static constexpr std::size_t kept_open = 16;

  explicit descent(level first) { levels_.push_back(std::move(first)); }
  [[nodiscard]] bool is_above(const file_call::identity& which) const noexcept;
  [[nodiscard]] static result<level> open_level(int from, const char* name, int flags) noexcept;

  std::vector<level> levels_;
};

}  // namespace skua::inline SKUA_ABI::fs
