// skua/fs/file_info.hpp: what the file system knows about a file.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/fs/file_kind.hpp"

#include <cstdint>

struct statx;

namespace skua::inline SKUA_ABI::fs {

/// A value, as things were when it was asked for.
class [[gnu::visibility("default")]] file_info {
public:
  file_info() = default;
  /// What statx(2) has filled in.
  explicit file_info(const struct ::statx& from) noexcept;

  /// What kind of thing it is.
  [[nodiscard]] file_kind kind() const noexcept { return kind_of_mode(mode_); }
  /// It is a file with bytes of its own.
  [[nodiscard]] bool is_regular() const noexcept { return kind() == file_kind::regular; }
  /// It is a directory.
  [[nodiscard]] bool is_directory() const noexcept { return kind() == file_kind::directory; }
  /// It is a link. Only for those who do not follow links.
  [[nodiscard]] bool is_symlink() const noexcept { return kind() == file_kind::symlink; }

  /// Bytes, from the first to the last.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Bytes that it takes on the device: less than size() if it has holes.
  [[nodiscard]] std::uint64_t allocated() const noexcept { return allocated_; }
  /// The lowest twelve bits of its mode: 0755 and the like.
  [[nodiscard]] std::uint32_t permissions() const noexcept { return mode_ & 07777U; }

  /// Both together say which file it is.
  [[nodiscard]] std::uint64_t device() const noexcept { return device_; }
  /// Its number in the file system of that device.
  [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }
  /// Both are of one file, perhaps under two names.
  [[nodiscard]] bool same_file(const file_info& other) const noexcept {
    return device_ == other.device_ && inode_ == other.inode_;
  }

  /// Names that it has.
  [[nodiscard]] std::uint32_t links() const noexcept { return links_; }
  /// The number of the user who owns it.
  [[nodiscard]] std::uint32_t user() const noexcept { return user_; }
  /// The number of the group that owns it.
  [[nodiscard]] std::uint32_t group() const noexcept { return group_; }

  /// Nanoseconds since 1970; 0 if the file system does not keep it.
  [[nodiscard]] std::int64_t accessed() const noexcept { return accessed_; }
  /// When its bytes were last written.
  [[nodiscard]] std::int64_t modified() const noexcept { return modified_; }
  /// When anything of it was last changed, also a name or permissions.
  [[nodiscard]] std::int64_t changed() const noexcept { return changed_; }
  /// When it was made.
  [[nodiscard]] std::int64_t created() const noexcept { return created_; }

private:
  std::uint64_t size_ = 0;
  std::uint64_t allocated_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::int64_t accessed_ = 0;
  std::int64_t modified_ = 0;
  std::int64_t changed_ = 0;
  std::int64_t created_ = 0;
  std::uint32_t mode_ = 0;
  std::uint32_t links_ = 0;
  std::uint32_t user_ = 0;
  std::uint32_t group_ = 0;
};

}  // namespace skua::inline SKUA_ABI::fs
