// skua/net/stream_socket.hpp: what TCP and Unix streams have in common: bytes in both directions.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/net/vectored_operation.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// A connection. One task may read while another writes; what several read (or write) at once
/// comes in some order. It is moved, closed and destroyed only when nothing is under way on it,
/// which is checked. Dropping it closes it, in both directions.
///
/// What waits is a leaf: nothing is allocated, it can be stopped, and timeout() uses the
/// operation's own timer. Stopped, or out of time: nothing was moved. Buffers are borrowed until
/// the operation has ended. Besides what each function says, errors are std::errc::connection_reset
/// (the other side is gone, and so are bytes that were under way), broken_pipe (we, or it, have
/// ended this direction), timed_out (it has not answered for long), and bad_file_descriptor if this
/// object was moved from, closed or released.
class [[gnu::visibility("default")]] stream_socket {
public:
  /// Receives what has come, up to as much as there is room for; waits if there is nothing.
  /// 0: the other side has ended its direction, or there is no room.
  [[nodiscard]] io_operation<std::size_t> read(std::span<std::byte> into) noexcept;
  /// The same into several buffers, one after the other.
  [[nodiscard]] vectored_operation readv(std::span<const iovec> into) noexcept {
    return {fd_, into, vectored_operation::direction::receive};
  }
  /// As read(), but the bytes stay, and the next read gives them again.
  [[nodiscard]] io_operation<std::size_t> peek(std::span<std::byte> into) noexcept;

  /// Sends some of the bytes, at least one, and says how many; waits if the other side does not
  /// read. That they were sent does not say that they will arrive. Never raises SIGPIPE.
  [[nodiscard]] io_operation<std::size_t> write(std::span<const std::byte> from) noexcept;
  /// The same from several buffers, one after the other.
  [[nodiscard]] vectored_operation writev(std::span<const iovec> from) noexcept {
    return {fd_, from, vectored_operation::direction::send};
  }
  /// Sends all of them. A stop or a failure in the middle has sent some, nobody knows how many: the
  /// stream is then good for nothing but to be closed. Takes a frame from the recycler.
  [[nodiscard]] task<result<void>> write_all(std::span<const std::byte> all);

  /// co_await it for a result<void>. Ends our direction: the other side reads what was sent, and
  /// then 0. Reading goes on. Waits for nobody. Errors: std::errc::not_connected.
  [[nodiscard]] io_operation<void> shutdown_write() noexcept;

  /// Closes without blocking the thread, and says what came of it.
  [[nodiscard]] io_operation<void> close() noexcept { return fd_.close(); }

  // None of the following suspends; their errors are those of the system calls.

  /// Where it is bound; the port that the kernel chose, too.
  [[nodiscard]] result<socket_address> local_address() const noexcept;
  /// std::errc::not_connected once the connection was reset.
  [[nodiscard]] result<socket_address> peer_address() const noexcept;

  /// Bytes that the kernel keeps for us. It doubles what it is given, and has limits of its own, so
  /// that what is set is not what is given back.
  result<void> set_send_buffer_size(std::size_t bytes) noexcept;
  /// As the kernel has it now.
  [[nodiscard]] result<std::size_t> send_buffer_size() const noexcept;
  /// The same for what was received and not read yet.
  result<void> set_receive_buffer_size(std::size_t bytes) noexcept;
  /// As the kernel has it now.
  [[nodiscard]] result<std::size_t> receive_buffer_size() const noexcept;

  /// The number, for options that are not here; -1 if there is none. It stays ours.
  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  /// Gives the descriptor away; this object is empty then. It may have O_NONBLOCK set.
  [[nodiscard]] unique_fd release() noexcept { return fd_.release(); }
  /// For operations that are not here; it stays ours.
  [[nodiscard]] const io::descriptor& io_descriptor() const noexcept { return fd_; }

protected:
  /// Takes in a connected socket of the right kind.
  explicit stream_socket(unique_fd fd) noexcept : fd_(std::move(fd)) {}
  /// The same for one that counts its operations already.
  explicit stream_socket(io::descriptor fd) noexcept : fd_(std::move(fd)) {}
  /// Not while anything is under way, which is checked.
  stream_socket(stream_socket&&) = default;
  /// Not while anything is under way, which is checked. What it had is closed.
  stream_socket& operator=(stream_socket&&) = default;
  ~stream_socket() = default;

private:
  io::descriptor fd_;
};

}  // namespace skua::inline SKUA_ABI::net
