// skua/io/file.hpp: the system calls of files and directories, awaited.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/fd_ref.hpp"
#include "skua/io/io_operation.hpp"

#include <cstdint>

struct statx;

/// See skua/io/stream.hpp for what all operations have in common. Those here cannot be stopped
/// once a thread of the kernel, or of the blocking pool, is at them: then their end is awaited.
namespace skua::inline SKUA_ABI::io {

/// Where a relative path begins: the working directory of the process, or an open directory.
inline constexpr int working_directory = -100;  // AT_FDCWD

/// Opens, with O_CLOEXEC. `flags`: O_*. What was opened as the task was stopped is given to it, or
/// closed. A fifo that is opened for reading through io_uring does not wait for its writer.
[[nodiscard, gnu::visibility("default")]] io_operation<unique_fd> open(
    const char* path, int flags, unsigned mode = 0, int directory = working_directory) noexcept;

/// Everything that was written is on the device.
[[nodiscard, gnu::visibility("default")]] io_operation<void> fsync(fd_ref fd) noexcept;
/// The same, without what is not needed to read it again, such as times.
[[nodiscard, gnu::visibility("default")]] io_operation<void> fdatasync(fd_ref fd) noexcept;

/// `mode`: FALLOC_FL_*.
[[nodiscard, gnu::visibility("default")]] io_operation<void> fallocate(
    fd_ref fd, int mode, std::int64_t offset, std::int64_t length) noexcept;
/// Makes the file so long, by cutting it off or with zeros.
[[nodiscard, gnu::visibility("default")]] io_operation<void> ftruncate(
    fd_ref fd, std::int64_t length) noexcept;

/// `flags`: AT_*. `mask`: STATX_*.
[[nodiscard, gnu::visibility("default")]] io_operation<void> statx(
    const char* path, int flags, unsigned mask, struct ::statx& into,
    int directory = working_directory) noexcept;

/// `flags`: RENAME_*.
[[nodiscard, gnu::visibility("default")]] io_operation<void> rename(
    const char* from, const char* to, unsigned flags = 0, int from_directory = working_directory,
    int to_directory = working_directory) noexcept;

/// `flags`: AT_REMOVEDIR for a directory.
[[nodiscard, gnu::visibility("default")]] io_operation<void> unlink(
    const char* path, int flags = 0, int directory = working_directory) noexcept;

/// `mode`: permissions, less those that the process's umask takes away.
[[nodiscard, gnu::visibility("default")]] io_operation<void> mkdir(
    const char* path, unsigned mode, int directory = working_directory) noexcept;

/// `flags`: AT_SYMLINK_FOLLOW, AT_EMPTY_PATH.
[[nodiscard, gnu::visibility("default")]] io_operation<void> link(
    const char* existing, const char* path, int flags = 0,
    int existing_directory = working_directory, int directory = working_directory) noexcept;

/// A link at `path` that says `target`, whatever is there.
[[nodiscard, gnu::visibility("default")]] io_operation<void> symlink(
    const char* target, const char* path, int directory = working_directory) noexcept;

}  // namespace skua::inline SKUA_ABI::io
