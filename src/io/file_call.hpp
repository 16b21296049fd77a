// src/io/file_call.hpp: calls about files that no driver has, for threads that may block.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// Each is the system call of its name, repeated while signals interrupt it.
namespace skua::inline SKUA_ABI::file_call {

/// Which file it is, and what: S_IF* and permissions.
struct identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;

  [[nodiscard]] bool same_file(const identity& other) const noexcept {
    return device == other.device && inode == other.inode;
  }
};

/// `directory`: an open one, or io::working_directory, as for all that follow.
[[nodiscard]] result<unique_fd> open_at(int directory, const char* path, int flags,
                                        unsigned mode = 0) noexcept;
[[nodiscard]] result<void> unlink_at(int directory, const char* path, int flags) noexcept;
[[nodiscard]] result<identity> identify(int fd) noexcept;
[[nodiscard]] result<identity> identify_at(int directory, const char* path, bool follow) noexcept;

/// Entries of a directory, as getdents64(2) lays them out; 0 at the end.
[[nodiscard]] result<std::size_t> entries(int fd, std::span<std::byte> into) noexcept;

[[nodiscard]] result<std::int64_t> seek(int fd, std::int64_t offset, int whence) noexcept;
/// O_*.
[[nodiscard]] result<int> flags_of(int fd) noexcept;
[[nodiscard]] result<std::size_t> read_at(int fd, std::span<std::byte> into,
                                          std::int64_t offset) noexcept;
[[nodiscard]] result<std::size_t> write_at(int fd, std::span<const std::byte> from,
                                           std::int64_t offset) noexcept;
/// Within the kernel, from and to the same offset.
[[nodiscard]] result<std::size_t> copy_range(int from, int to, std::int64_t offset,
                                             std::size_t length) noexcept;
[[nodiscard]] result<void> truncate(int fd, std::int64_t length) noexcept;

/// `how`: LOCK_*.
[[nodiscard]] result<void> lock(int fd, int how) noexcept;
[[nodiscard]] result<void> change_mode(int fd, unsigned mode) noexcept;
[[nodiscard]] result<void> change_mode_of(const char* path, unsigned mode) noexcept;

/// Throw std::bad_alloc.
[[nodiscard]] result<std::string> read_link(const char* path);
[[nodiscard]] result<std::string> canonical(const char* path);

/// A new inotify instance, which does not block.
[[nodiscard]] result<unique_fd> new_watcher() noexcept;
[[nodiscard]] result<int> add_watch(int watcher, const char* path, std::uint32_t mask) noexcept;
[[nodiscard]] result<void> remove_watch(int watcher, int watch) noexcept;

/// A number that nobody can guess.
[[nodiscard]] std::uint64_t random_number() noexcept;

}  // namespace skua::inline SKUA_ABI::file_call
