// src/io/file.cpp: requests to file systems.
#include "skua/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace skua::inline SKUA_ABI::io {
namespace {

static_assert(working_directory == AT_FDCWD);

op_request about(op_code code, fd_ref fd, const char* path = nullptr, std::uint32_t flags = 0,
                 std::uint32_t mode = 0) noexcept {
  op_request what = fd.request(code);
  what.address = const_cast<char*>(path);
  what.flags = flags;
  what.mode = mode;
  return what;
}

io_operation<void> two_paths(op_code code, int from_directory, const char* from, int to_directory,
                             const char* to, std::uint32_t flags) noexcept {
  op_request what = about(code, from_directory, from, flags);
  what.other_fd = to_directory;
  what.other_address = const_cast<char*>(to);
  return io_operation<void>(what);
}

}  // namespace

io_operation<unique_fd> open(const char* path, int flags, unsigned mode, int directory) noexcept {
  return io_operation<unique_fd>(
      about(op_code::open, directory, path, static_cast<std::uint32_t>(flags | O_CLOEXEC), mode));
}

io_operation<void> fsync(fd_ref fd) noexcept {
  return io_operation<void>(about(op_code::fsync, fd), fd.of());
}

io_operation<void> fdatasync(fd_ref fd) noexcept {
  return io_operation<void>(about(op_code::fdatasync, fd), fd.of());
}

io_operation<void> fallocate(fd_ref fd, int mode, std::int64_t offset,
                             std::int64_t length) noexcept {
  op_request what = about(op_code::fallocate, fd, nullptr, 0, static_cast<std::uint32_t>(mode));
  what.offset = offset;
  what.length = static_cast<std::uint64_t>(length);
  return io_operation<void>(what, fd.of());
}

io_operation<void> ftruncate(fd_ref fd, std::int64_t length) noexcept {
  op_request what = about(op_code::ftruncate, fd);
  what.length = static_cast<std::uint64_t>(length);
  return io_operation<void>(what, fd.of());
}

io_operation<void> statx(const char* path, int flags, unsigned mask, struct ::statx& into,
                         int directory) noexcept {
  op_request what = about(op_code::statx, directory, path, static_cast<std::uint32_t>(flags), mask);
  what.other_address = &into;
  return io_operation<void>(what);
}

io_operation<void> rename(const char* from, const char* to, unsigned flags, int from_directory,
                          int to_directory) noexcept {
  return two_paths(op_code::rename, from_directory, from, to_directory, to, flags);
}

io_operation<void> unlink(const char* path, int flags, int directory) noexcept {
  return io_operation<void>(
      about(op_code::unlink, directory, path, static_cast<std::uint32_t>(flags)));
}

io_operation<void> mkdir(const char* path, unsigned mode, int directory) noexcept {
  return io_operation<void>(about(op_code::mkdir, directory, path, 0, mode));
}

io_operation<void> link(const char* existing, const char* path, int flags, int existing_directory,
                        int directory) noexcept {
  return two_paths(op_code::link, existing_directory, existing, directory, path,
                   static_cast<std::uint32_t>(flags));
}

io_operation<void> symlink(const char* target, const char* path, int directory) noexcept {
  return two_paths(op_code::symlink, -1, target, directory, path, 0);
}

}  // namespace skua::inline SKUA_ABI::io
