// src/fs/file_info.cpp: from the kernel's record to ours.
#include "skua/fs/file_info.hpp"

#include <sys/stat.h>

namespace skua::inline SKUA_ABI::fs {
namespace {

constexpr std::uint64_t block = 512;  // whatever the file system's own are

std::int64_t nanoseconds(const statx_timestamp& when) noexcept {
  return when.tv_sec * 1'000'000'000 + when.tv_nsec;
}

}  // namespace

file_kind kind_of_mode(std::uint32_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return file_kind::regular;
    case S_IFDIR:
      return file_kind::directory;
    case S_IFLNK:
      return file_kind::symlink;
    case S_IFBLK:
      return file_kind::block_device;
    case S_IFCHR:
      return file_kind::character_device;
    case S_IFIFO:
      return file_kind::fifo;
    case S_IFSOCK:
      return file_kind::socket;
    default:
      return file_kind::unknown;
  }
}

file_info::file_info(const struct ::statx& from) noexcept
    : size_(from.stx_size),
      allocated_(from.stx_blocks * block),
      device_(std::uint64_t{from.stx_dev_major} << 32U | from.stx_dev_minor),
      inode_(from.stx_ino),
      accessed_(nanoseconds(from.stx_atime)),
      modified_(nanoseconds(from.stx_mtime)),
      changed_(nanoseconds(from.stx_ctime)),
      created_(nanoseconds(from.stx_btime)),
      mode_(from.stx_mode),
      links_(from.stx_nlink),
      user_(from.stx_uid),
      group_(from.stx_gid) {}

}  // namespace skua::inline SKUA_ABI::fs
