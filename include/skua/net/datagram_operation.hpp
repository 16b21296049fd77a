// skua/net/datagram_operation.hpp: one datagram, sent or received.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"
#include "skua/net/datagram.hpp"
#include "skua/net/socket_address.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <span>

// The message's header and the address live in the operation: nothing is allocated. The bytes are
// borrowed until it has ended. Stopped, or out of time: nothing was sent, and none was received.
namespace skua::inline SKUA_ABI::net {

/// co_await it for a result<datagram>.
class [[gnu::visibility("default")]] receive_from_operation final : public io_wait {
public:
  /// Use datagram_socket::recv_from().
  receive_from_operation(const io::descriptor& on, std::span<std::byte> into) noexcept;
  result<datagram> await_resume();

private:
  iovec bytes_;
  sockaddr_storage from_;
  msghdr message_{};
};

/// co_await it for a result<std::size_t>; std::errc::message_size if the datagram was longer than
/// the room, which is then full of its beginning.
class [[gnu::visibility("default")]] receive_operation final : public io_wait {
public:
  /// Use datagram_socket::recv().
  receive_operation(const io::descriptor& on, std::span<std::byte> into) noexcept;
  result<std::size_t> await_resume();

private:
  std::size_t room_;
};

/// co_await it for a result<void>: a datagram is sent as a whole.
class [[gnu::visibility("default")]] send_to_operation final : public io_wait {
public:
  /// Use datagram_socket::send_to().
  send_to_operation(const io::descriptor& on, std::span<const std::byte> from,
                    const socket_address& to) noexcept;
  result<void> await_resume();

private:
  iovec bytes_;
  socket_address to_;
  msghdr message_{};
};

/// The same to where the socket is connected.
class [[gnu::visibility("default")]] send_operation final : public io_wait {
public:
  /// Use datagram_socket::send().
  send_operation(const io::descriptor& on, std::span<const std::byte> from) noexcept;
  result<void> await_resume();
};

}  // namespace skua::inline SKUA_ABI::net
