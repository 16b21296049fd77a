// skua/io/descriptor.hpp: an open descriptor that knows of the operations on it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/io_operation.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace skua::inline SKUA_ABI::io {

/// What sockets, files and pipes are made of: owns one descriptor, or none, and counts what is
/// under way on it. It is moved, closed, released or destroyed only when nothing is, and says so
/// otherwise: an operation that the kernel has not taken yet would go to whatever has the number
/// next. All functions of skua::io that take a raw number take one of these as well. Several tasks
/// may use it at once, on several threads, if the file allows that.
class [[gnu::visibility("default")]] descriptor {
public:
  descriptor() = default;
  /// Takes a raw descriptor in. Nobody else closes it from now on.
  explicit descriptor(unique_fd fd) noexcept;
  /// `from` has none then. Not while anything is under way on it, which is checked.
  descriptor(descriptor&& from) noexcept;
  /// Closes what it has. Not while anything is under way on either, which is checked.
  descriptor& operator=(descriptor&& from) noexcept;
  /// Closes, as unique_fd does.
  ~descriptor();

  /// -1 if it has none.
  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  /// It has one.
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }

  /// Gives the raw descriptor out: it is the caller's now.
  [[nodiscard]] unique_fd release() noexcept;

  /// Closes without blocking the thread, and says what came of it; see io::close().
  [[nodiscard]] io_operation<void> close() noexcept;

  /// Reads some bytes at the file's own position; see io::read().
  [[nodiscard]] io_operation<std::size_t> read(std::span<std::byte> into) const noexcept;
  /// Writes some bytes at the file's own position; see io::write().
  [[nodiscard]] io_operation<std::size_t> write(std::span<const std::byte> from) const noexcept;

private:
  friend class skua::SKUA_ABI::io_wait;
  friend class fd_ref;

  void operation_begins() const noexcept;
  void operation_ended() const noexcept;
  void check_idle() const noexcept;

  unique_fd fd_;
  mutable std::uint32_t under_way_ = 0;  // changed by any thread
  std::uint64_t name_ = 0;               // see op_request::owner
};

}  // namespace skua::inline SKUA_ABI::io
