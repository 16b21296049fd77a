// skua/net/unix_stream.hpp: a connection within the machine, which can carry open descriptors.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/net/accept_operation.hpp"
#include "skua/net/fd_passing.hpp"
#include "skua/net/peer_credentials.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/net/stream_socket.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// See stream_socket for reading, writing and all else that it shares with TCP streams.
class [[gnu::visibility("default")]] unix_stream : public stream_socket {
public:
  /// Connects to a path or an abstract name. Suspends while the listener's queue is full. Stopped:
  /// there is no connection. Errors: no_such_file_or_directory, connection_refused (nobody listens
  /// there any more), permission_denied, address_family_not_supported (no Unix address),
  /// too_many_files_open; wrong_protocol_type (datagrams are spoken there). On epoll the kernel
  /// does not tell when a full queue has room: resource_unavailable_try_again after some tries,
  /// with pauses in between, for a second altogether.
  [[nodiscard]] static task<result<unix_stream>> connect(socket_address to);

  /// Two streams that are connected to each other. Does not suspend.
  [[nodiscard]] static result<std::pair<unix_stream, unix_stream>> pair() noexcept;

  /// Takes a connected Unix stream socket in. It is made blocking and closed on exec. Errors:
  /// not_a_socket, address_family_not_supported, wrong_protocol_type; then it is closed.
  [[nodiscard]] static result<unix_stream> from_descriptor(unique_fd fd) noexcept;

  /// Does not suspend.
  [[nodiscard]] result<peer_credentials> credentials() const noexcept;

  /// Sends some of the bytes, at least one, and with the first of them copies of open descriptors:
  /// all of these or, if it fails or is stopped, none. Ours stay open, and are used only while it
  /// is under way. No bytes, or more descriptors than most_passed_fds, end the program. Errors:
  /// those of write(); bad_file_descriptor; ETOOMANYREFS (the user has too many under way).
  [[nodiscard]] send_fds_operation send_with_fds(std::span<const std::byte> bytes,
                                                 std::span<const int> fds) noexcept {
    check(!bytes.empty(), "descriptors travel with bytes: send at least one");
    return {io_descriptor(), bytes, fds};
  }
  /// As read(), and descriptors that have come with these bytes are put into `fds`, closed on exec.
  /// Those for which there is no place are closed: see received_fds. None leaks, however it ends.
  /// read() itself closes all of them.
  [[nodiscard]] receive_fds_operation recv_with_fds(std::span<std::byte> into,
                                                    std::span<unique_fd> fds) noexcept {
    return {io_descriptor(), into, fds};
  }

private:
  friend class accept_operation<unix_stream>;
  using stream_socket::stream_socket;
};

}  // namespace skua::inline SKUA_ABI::net
