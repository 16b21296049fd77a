// skua/net/datagram_socket.hpp: what UDP and Unix datagrams have in common.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"
#include "skua/net/datagram_operation.hpp"
#include "skua/net/socket_address.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// Any number of tasks may send and receive at once. It is moved, closed and destroyed only when
/// nothing is under way on it, which is checked. What waits is a leaf: nothing is allocated, it can
/// be stopped, and timeout() uses the operation's own timer. Stopped: nothing was sent, and no
/// datagram was taken. Buffers are borrowed until the operation has ended.
class [[gnu::visibility("default")]] datagram_socket {
public:
  /// Waits for the next datagram, and gives a result<datagram>: how many bytes, from whom, and
  /// whether some did not fit into the buffer. One of no bytes is a datagram, too.
  [[nodiscard]] receive_from_operation recv_from(std::span<std::byte> into) noexcept {
    return {fd_, into};
  }
  /// Sends one datagram, and gives a result<void>; waits if the kernel has no room for it. The
  /// address is copied. Errors: message_size (longer than the protocol allows),
  /// network_unreachable, permission_denied (a broadcast, without set_broadcast()),
  /// already_connected.
  [[nodiscard]] send_to_operation send_to(std::span<const std::byte> bytes,
                                          const socket_address& to) noexcept {
    return {fd_, bytes, to};
  }

  /// From now on only datagrams from there are received, and send() sends there. Does not suspend.
  result<void> connect(const socket_address& to) noexcept;
  /// As recv_from(), but gives the bytes alone, a result<std::size_t>, and message_size if they did
  /// not fit. Errors, when connected: connection_refused (nobody was there to receive one that was
  /// sent before).
  [[nodiscard]] receive_operation recv(std::span<std::byte> into) noexcept { return {fd_, into}; }
  /// As send_to(), to where it is connected. Errors: destination_address_required (or
  /// not_connected) if it is not.
  [[nodiscard]] send_operation send(std::span<const std::byte> bytes) noexcept {
    return {fd_, bytes};
  }

  // None of the following suspends; their errors are those of the system calls.

  /// Where it is bound; the port that the kernel chose, too.
  [[nodiscard]] result<socket_address> local_address() const noexcept;
  /// Where it is connected. std::errc::not_connected if it is not.
  [[nodiscard]] result<socket_address> peer_address() const noexcept;

  /// Bytes that the kernel keeps for us; what does not fit on arrival is lost. It doubles what it
  /// is given, and has limits of its own.
  result<void> set_send_buffer_size(std::size_t bytes) noexcept;
  /// As the kernel has it now.
  [[nodiscard]] result<std::size_t> send_buffer_size() const noexcept;
  /// The same for what was received and not taken yet.
  result<void> set_receive_buffer_size(std::size_t bytes) noexcept;
  /// As the kernel has it now.
  [[nodiscard]] result<std::size_t> receive_buffer_size() const noexcept;

  /// Closes without blocking the thread.
  [[nodiscard]] io_operation<void> close() noexcept { return fd_.close(); }
  /// The number, for options that are not here; -1 if there is none. It stays ours.
  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  /// Gives the descriptor away; this object is empty then.
  [[nodiscard]] unique_fd release() noexcept { return fd_.release(); }
  /// For operations that are not here; it stays ours.
  [[nodiscard]] const io::descriptor& io_descriptor() const noexcept { return fd_; }

protected:
  /// Takes in an open socket of the right kind.
  explicit datagram_socket(unique_fd fd) noexcept : fd_(std::move(fd)) {}
  /// Not while anything is under way, which is checked.
  datagram_socket(datagram_socket&&) = default;
  /// Not while anything is under way, which is checked. What it had is closed.
  datagram_socket& operator=(datagram_socket&&) = default;
  ~datagram_socket() = default;

private:
  io::descriptor fd_;
};

}  // namespace skua::inline SKUA_ABI::net
