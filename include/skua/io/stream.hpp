// skua/io/stream.hpp: bytes to and from any descriptor.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/fd_ref.hpp"
#include "skua/io/io_operation.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

struct iovec;

/// The kernel's operations on raw descriptors, as a task awaits them. Each suspends, gives a
/// result, and can be stopped and given a timeout: see io_wait for what both mean. A descriptor is
/// looked up when the kernel takes the operation, so whoever awaits one on a raw number keeps it
/// open meanwhile; an io::descriptor checks that. What is borrowed (buffers, paths, addresses) is
/// borrowed until the operation has ended.
namespace skua::inline SKUA_ABI::io {

/// From here or to here: a position in a file. Without it, the file's own position; a socket, a
/// pipe or a terminal has no other.
inline constexpr std::int64_t at_position = -1;

/// Does nothing, through the driver and back.
[[nodiscard, gnu::visibility("default")]] io_operation<void> nop() noexcept;

/// Reads up to as many bytes as there is room for; 0 at the end of what there is, or without room.
/// Stopped: nothing was read.
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> read(
    fd_ref fd, std::span<std::byte> into, std::int64_t offset = at_position) noexcept;
/// The same into several rooms, one after the other; more than 1,024 are
/// std::errc::invalid_argument. The list is borrowed, too.
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> readv(
    fd_ref fd, std::span<const iovec> into, std::int64_t offset = at_position) noexcept;

/// Writes some of the bytes, at least one unless there are none, and says how many. A pipe or
/// socket whose other end is closed gives std::errc::broken_pipe, and no signal.
/// Stopped: nothing was written.
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> write(
    fd_ref fd, std::span<const std::byte> from, std::int64_t offset = at_position) noexcept;
/// The same from several pieces, one after the other; more than 1,024 are
/// std::errc::invalid_argument. The list is borrowed, too.
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> writev(
    fd_ref fd, std::span<const iovec> from, std::int64_t offset = at_position) noexcept;

/// Moves up to `length` bytes between two descriptors, one of which is a pipe, and both of which
/// the caller keeps open. `flags`: SPLICE_F_*. On epoll, a socket is made non-blocking.
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> splice(
    int from, std::int64_t from_offset, int to, std::int64_t to_offset, std::size_t length,
    unsigned flags = 0) noexcept;

/// Closes. The number is free as soon as this has ended, also with an error (what the file system
/// could not write, say) but for std::errc::bad_file_descriptor. Once begun it is not stopped.
[[nodiscard, gnu::visibility("default")]] io_operation<void> close(unique_fd fd) noexcept;

}  // namespace skua::inline SKUA_ABI::io
