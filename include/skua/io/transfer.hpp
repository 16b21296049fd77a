// skua/io/transfer.hpp: bytes from one descriptor to another that do not pass through the program.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/descriptor.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI::io {

/// How far a transfer() has come.
class transferred {
public:
  /// Made by io::transfer().
  transferred(std::uint64_t bytes, bool at_end) noexcept : bytes_(bytes), at_end_(at_end) {}
  /// So many were moved.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// The source has given everything. If not, the kernel has no way to go on.
  [[nodiscard]] bool at_end() const noexcept { return at_end_; }

private:
  std::uint64_t bytes_;
  bool at_end_;
};

/// The part of copy() that the kernel can do by itself: between pipes, regular files and stream
/// sockets that do not block (O_NONBLOCK; as those that the epoll driver has connected or
/// accepted), at the position of each. To a file or a pipe from a pipe it splices; between two
/// others through a pipe of its own, which takes two descriptors meanwhile; from file to file by
/// copy_file_range() on the blocking pool, 8 MiB at a time. Nothing waits in a thread: it waits for
/// both ends to be ready first. Sockets that block, as they do on io_uring, are refused: a splice
/// into one would wait in a thread of the kernel's, and reading and sending by the ring needs none.
///
/// Stops with no error, and short of the end, where the kernel refuses (file systems that cannot, a
/// file that is only appended to, no descriptors left); all it has taken until then it has given.
/// Fails as reading or writing does. If it fails or is stopped, what it has taken and not given is
/// lost: what a pipe holds, 256 KiB at most, and nothing between files. Both are borrowed until it
/// has ended.
[[nodiscard, gnu::visibility("default")]] task<result<transferred>> transfer(const descriptor& from,
                                                                             const descriptor& to);

}  // namespace skua::inline SKUA_ABI::io
