// skua/fs/walk_options.hpp: how far to walk through a tree of directories.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/fs/walk_entry.hpp"

#include <cstddef>
#include <limits>

namespace skua::inline SKUA_ABI::fs {

/// `walk_options().max_depth(3)`. What is not said: all there is, without following links, and past
/// errors.
class walk_options {
public:
  /// Whether to go into a directory. Called by a thread of the blocking pool; throws nothing.
  using predicate = bool (*)(const walk_entry& directory) noexcept;

  constexpr walk_options() noexcept : depth_(std::numeric_limits<std::size_t>::max()) {}

  /// Nothing deeper is given. 1: what is in the directory itself.
  constexpr walk_options& max_depth(std::size_t most) noexcept {
    depth_ = most;
    return *this;
  }
  /// Links to directories are walked into, unless they lead to a directory above.
  constexpr walk_options& follow_symlinks(bool yes = true) noexcept {
    follows_ = yes;
    return *this;
  }
  /// The first error is the last thing that is given. Otherwise the walk goes on with the rest.
  constexpr walk_options& stop_at_error(bool yes = true) noexcept {
    stops_ = yes;
    return *this;
  }
  /// Directories for which this is false are given, but not what is in them.
  constexpr walk_options& enter_if(predicate wanted) noexcept {
    wanted_ = wanted;
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] constexpr std::size_t max_depth() const noexcept { return depth_; }
  [[nodiscard]] constexpr bool follows_symlinks() const noexcept { return follows_; }
  [[nodiscard]] constexpr bool stops_at_error() const noexcept { return stops_; }
  [[nodiscard]] constexpr predicate enter_if() const noexcept { return wanted_; }
  ///@}

private:
  std::size_t depth_;
  predicate wanted_ = nullptr;
  bool follows_ = false;
  bool stops_ = false;
};

}  // namespace skua::inline SKUA_ABI::fs
