// src/net/datagram_socket.cpp: names and buffers.
#include "skua/net/datagram_socket.hpp"

#include "io/socket_calls.hpp"
#include "net/socket_options.hpp"

namespace skua::inline SKUA_ABI::net {

result<void> datagram_socket::connect(const socket_address& to) noexcept {
  return io::connect_now(fd_.get(), to.data(), to.size());
}

result<socket_address> datagram_socket::local_address() const noexcept {
  return local_address_of(fd_.get());
}

result<socket_address> datagram_socket::peer_address() const noexcept {
  return peer_address_of(fd_.get());
}

result<void> datagram_socket::set_send_buffer_size(std::size_t bytes) noexcept {
  return set_buffer_size(fd_.get(), SO_SNDBUF, bytes);
}

result<std::size_t> datagram_socket::send_buffer_size() const noexcept {
  return buffer_size(fd_.get(), SO_SNDBUF);
}

result<void> datagram_socket::set_receive_buffer_size(std::size_t bytes) noexcept {
  return set_buffer_size(fd_.get(), SO_RCVBUF, bytes);
}

result<std::size_t> datagram_socket::receive_buffer_size() const noexcept {
  return buffer_size(fd_.get(), SO_RCVBUF);
}

}  // namespace skua::inline SKUA_ABI::net
