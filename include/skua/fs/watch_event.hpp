// skua/fs/watch_event.hpp: something that happened to a file or in a directory.
#pragma once

#include "skua/base/abi.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace skua::inline SKUA_ABI::fs {

/// What can happen; combined with `|`. As inotify(7) numbers them.
enum class watch_kind : std::uint32_t {
  accessed = 0x001,      ///< read from
  modified = 0x002,      ///< written to, or cut off
  attributes = 0x004,    ///< permissions, times, links, owner
  written = 0x008,       ///< closed by somebody who could write
  closed = 0x010,        ///< closed by somebody who could not
  opened = 0x020,        ///< opened by anybody
  moved_from = 0x040,    ///< renamed away; the event with the same cookie says where to
  moved_to = 0x080,      ///< renamed to here
  created = 0x100,       ///< made in the directory
  removed = 0x200,       ///< removed from the directory
  self_removed = 0x400,  ///< what is watched is gone itself
  self_moved = 0x800,    ///< what is watched has another name
  changes = 0xfce,       ///< to ask for: everything that leaves something changed
};
/// Both.
[[nodiscard]] constexpr watch_kind operator|(watch_kind one, watch_kind other) noexcept {
  return static_cast<watch_kind>(static_cast<std::uint32_t>(one) |
                                 static_cast<std::uint32_t>(other));
}

/// Names what is watched, for one watcher. Not used again before two thousand million others.
enum class watch_id : int {
  none = -1  ///< no path: see watch_event::is_overflow()
};

/// A value.
class watch_event {
public:
  /// Made by watcher.
  watch_event(watch_id which, std::uint32_t mask, std::uint32_t cookie, std::string name) noexcept
      : name_(std::move(name)), mask_(mask), cookie_(cookie), id_(which) {}

  /// What is watched; `none` if events were lost.
  [[nodiscard]] watch_id id() const noexcept { return id_; }
  /// It happened. An event may be of several kinds.
  [[nodiscard]] bool is(watch_kind one) const noexcept {
    return (mask_ & static_cast<std::uint32_t>(one)) != 0;
  }
  /// More happened than the kernel keeps, and the rest is lost: look at everything again.
  [[nodiscard]] bool is_overflow() const noexcept { return (mask_ & 0x4000U) != 0; }
  /// The last event of this id: it was removed from the watcher, or is gone with its file system.
  [[nodiscard]] bool is_end() const noexcept { return (mask_ & 0x8000U) != 0; }
  /// It happened to a directory.
  [[nodiscard]] bool is_directory() const noexcept { return (mask_ & 0x40000000U) != 0; }

  /// In the watched directory; empty if it happened to what is watched itself.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The same for both halves of a rename; otherwise 0.
  [[nodiscard]] std::uint32_t cookie() const noexcept { return cookie_; }

private:
  std::string name_;
  std::uint32_t mask_;
  std::uint32_t cookie_;
  watch_id id_;
};

}  // namespace skua::inline SKUA_ABI::fs
