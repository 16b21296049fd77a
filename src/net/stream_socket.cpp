// src/net/stream_socket.cpp: bytes, directions, names and buffers.
#include "skua/net/stream_socket.hpp"

#include "net/socket_options.hpp"
#include "skua/base/error.hpp"
#include "skua/io/socket.hpp"
#include "skua/io/stream.hpp"

#include <sys/socket.h>

namespace skua::inline SKUA_ABI::net {

// Without room, recv(2) waits until something has come, and gives nothing then; read(2) does not.
io_operation<std::size_t> stream_socket::read(std::span<std::byte> into) noexcept {
  return into.empty() ? io::read(fd_, into) : io::recv(fd_, into);
}

io_operation<std::size_t> stream_socket::peek(std::span<std::byte> into) noexcept {
  return into.empty() ? io::read(fd_, into) : io::recv(fd_, into, MSG_PEEK);
}

io_operation<std::size_t> stream_socket::write(std::span<const std::byte> from) noexcept {
  return io::send(fd_, from);
}

task<result<void>> stream_socket::write_all(std::span<const std::byte> all) {
  while (!all.empty()) {
    const result<std::size_t> some = co_await write(all);
    if (!some.has_value()) co_return fail(some.error());
    all = all.subspan(*some);
  }
  co_return {};
}

io_operation<void> stream_socket::shutdown_write() noexcept {
  return io::shutdown(fd_, SHUT_WR);
}

result<socket_address> stream_socket::local_address() const noexcept {
  return local_address_of(fd_.get());
}

result<socket_address> stream_socket::peer_address() const noexcept {
  return peer_address_of(fd_.get());
}

result<void> stream_socket::set_send_buffer_size(std::size_t bytes) noexcept {
  return set_buffer_size(fd_.get(), SO_SNDBUF, bytes);
}

result<std::size_t> stream_socket::send_buffer_size() const noexcept {
  return buffer_size(fd_.get(), SO_SNDBUF);
}

result<void> stream_socket::set_receive_buffer_size(std::size_t bytes) noexcept {
  return set_buffer_size(fd_.get(), SO_RCVBUF, bytes);
}

result<std::size_t> stream_socket::receive_buffer_size() const noexcept {
  return buffer_size(fd_.get(), SO_RCVBUF);
}

}  // namespace skua::inline SKUA_ABI::net
