// skua/net/unix_datagram.hpp: datagrams within the machine: in order, none lost, none cut in two.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/net/datagram_socket.hpp"
#include "skua/net/fd_passing.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/net/unix_path_guard.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// See datagram_socket for sending, receiving and all else that it shares with UDP. A send waits
/// while the receiver's queue is full. A file that bind() has made is removed when the socket is
/// dropped, as a unix_listener's is. Nothing here suspends.
class [[gnu::visibility("default")]] unix_datagram : public datagram_socket {
public:
  /// Takes a path or an abstract name. Errors: those of unix_listener::bind().
  [[nodiscard]] static result<unix_datagram> bind(const socket_address& at);
  /// A path, or `unix:/path`, or `unix:@name`.
  [[nodiscard]] static result<unix_datagram> bind(std::string_view at);
  /// Without a name: it can send, and nobody can answer.
  [[nodiscard]] static result<unix_datagram> unbound() noexcept;
  /// Two that are connected to each other.
  [[nodiscard]] static result<std::pair<unix_datagram, unix_datagram>> pair() noexcept;

  /// Takes a Unix datagram socket in. It is made blocking and closed on exec. Errors: not_a_socket,
  /// address_family_not_supported, wrong_protocol_type; then it is closed.
  [[nodiscard]] static result<unix_datagram> from_descriptor(unique_fd fd) noexcept;

  /// See unix_stream; when connected. The bytes are one datagram; here they may be none.
  [[nodiscard]] send_fds_operation send_with_fds(std::span<const std::byte> bytes,
                                                 std::span<const int> fds) noexcept {
    return {io_descriptor(), bytes, fds};
  }
  /// One datagram with its descriptors: see unix_stream::recv_with_fds().
  [[nodiscard]] receive_fds_operation recv_with_fds(std::span<std::byte> into,
                                                    std::span<unique_fd> fds) noexcept {
    return {io_descriptor(), into, fds};
  }

  /// Gives the descriptor away, and the file; this object is empty then.
  [[nodiscard]] unique_fd release() noexcept {
    file_.forget();
    return datagram_socket::release();
  }

private:
  explicit unix_datagram(unique_fd fd, unix_path_guard file = unix_path_guard()) noexcept
      : datagram_socket(std::move(fd)), file_(std::move(file)) {}

  unix_path_guard file_;
};

}  // namespace skua::inline SKUA_ABI::net
