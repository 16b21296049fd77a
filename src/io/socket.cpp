// src/io/socket.cpp: requests to sockets.
#include "skua/io/socket.hpp"

#include <sys/socket.h>

namespace skua::inline SKUA_ABI::io {
namespace {

op_request about(op_code code, fd_ref fd, const void* address, std::size_t length,
                 int flags) noexcept {
  op_request what = fd.request(code);
  what.address = const_cast<void*>(address);
  what.length = length;
  what.flags = static_cast<std::uint32_t>(flags);
  return what;
}

}  // namespace

io_operation<std::size_t> recv(fd_ref fd, std::span<std::byte> into, int flags) noexcept {
  return io_operation<std::size_t>(about(op_code::recv, fd, into.data(), into.size(), flags),
                                   fd.of());
}

io_operation<std::size_t> recvmsg(fd_ref fd, msghdr& message, int flags) noexcept {
  return io_operation<std::size_t>(about(op_code::recvmsg, fd, &message, 1, flags), fd.of());
}

io_operation<std::size_t> send(fd_ref fd, std::span<const std::byte> from, int flags) noexcept {
  return io_operation<std::size_t>(
      about(op_code::send, fd, from.data(), from.size(), flags | MSG_NOSIGNAL), fd.of());
}

io_operation<std::size_t> sendmsg(fd_ref fd, const msghdr& message, int flags) noexcept {
  return io_operation<std::size_t>(about(op_code::sendmsg, fd, &message, 1, flags | MSG_NOSIGNAL),
                                   fd.of());
}

io_operation<std::size_t> send_zero_copy(fd_ref fd, std::span<const std::byte> from,
                                         int flags) noexcept {
  return io_operation<std::size_t>(
      about(op_code::send_zc, fd, from.data(), from.size(), flags | MSG_NOSIGNAL), fd.of());
}

io_operation<unique_fd> accept(fd_ref fd, sockaddr* from, unsigned* length) noexcept {
  op_request what = about(op_code::accept, fd, from, 0, SOCK_CLOEXEC);
  what.other_address = length;
  return io_operation<unique_fd>(what, fd.of());
}

io_operation<void> connect(fd_ref fd, const sockaddr* to, unsigned length) noexcept {
  return io_operation<void>(about(op_code::connect, fd, to, length, 0), fd.of());
}

io_operation<void> shutdown(fd_ref fd, int how) noexcept {
  return io_operation<void>(about(op_code::shutdown, fd, nullptr, 0, how), fd.of());
}

}  // namespace skua::inline SKUA_ABI::io
