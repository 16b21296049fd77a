// src/net/datagram_operation.cpp: messages with a name, and bytes counted as they were sent.
#include "skua/net/datagram_operation.hpp"

#include "skua/base/error.hpp"
#include "skua/io/fd_ref.hpp"

namespace skua::inline SKUA_ABI::net {
namespace {

op_request with_message(op_code code, const io::descriptor& on, msghdr& message,
                        int flags) noexcept {
  op_request what = io::fd_ref(on).request(code);
  what.address = &message;
  what.length = 1;
  what.flags = static_cast<std::uint32_t>(flags);
  return what;
}

op_request with_bytes(op_code code, const io::descriptor& on, const void* bytes, std::size_t length,
                      int flags) noexcept {
  op_request what = io::fd_ref(on).request(code);
  what.address = const_cast<void*>(bytes);
  what.length = length;
  what.flags = static_cast<std::uint32_t>(flags);
  return what;
}

iovec one(const void* bytes, std::size_t length) noexcept {
  return {.iov_base = const_cast<void*>(bytes), .iov_len = length};
}

}  // namespace

receive_from_operation::receive_from_operation(const io::descriptor& on,
                                               std::span<std::byte> into) noexcept
    : io_wait(with_message(op_code::recvmsg, on, message_, MSG_TRUNC), &on),
      bytes_(one(into.data(), into.size())) {
  message_.msg_name = &from_;
  message_.msg_namelen = sizeof from_;
  message_.msg_iov = &bytes_;
  message_.msg_iovlen = 1;
}

result<datagram> receive_from_operation::await_resume() {
  const std::int32_t got = take();
  if (got < 0) return failure(got);
  // Who has no name, as a Unix socket may, has no length either.
  auto from =
      message_.msg_namelen == 0
          ? result<socket_address>(socket_address())
          : socket_address::of(reinterpret_cast<const sockaddr*>(&from_), message_.msg_namelen);
  if (!from) return fail(from.error());
  message_.msg_namelen = sizeof from_;  // if it is awaited again
  return datagram(static_cast<std::size_t>(got), bytes_.iov_len, *from);
}

receive_operation::receive_operation(const io::descriptor& on, std::span<std::byte> into) noexcept
    : io_wait(with_bytes(op_code::recv, on, into.data(), into.size(), MSG_TRUNC), &on),
      room_(into.size()) {}

result<std::size_t> receive_operation::await_resume() {
  const std::int32_t got = take();
  if (got < 0) return failure(got);
  const auto sent = static_cast<std::size_t>(got);
  if (sent > room_) return fail(std::errc::message_size);
  return sent;
}

send_to_operation::send_to_operation(const io::descriptor& on, std::span<const std::byte> from,
                                     const socket_address& to) noexcept
    : io_wait(with_message(op_code::sendmsg, on, message_, MSG_NOSIGNAL), &on),
      bytes_(one(from.data(), from.size())),
      to_(to) {
  message_.msg_name = const_cast<sockaddr*>(to_.data());
  message_.msg_namelen = to_.size();
  message_.msg_iov = &bytes_;
  message_.msg_iovlen = 1;
}

result<void> send_to_operation::await_resume() {
  const std::int32_t got = take();
  if (got < 0) return failure(got);
  return {};
}

send_operation::send_operation(const io::descriptor& on, std::span<const std::byte> from) noexcept
    : io_wait(with_bytes(op_code::send, on, from.data(), from.size(), MSG_NOSIGNAL), &on) {}

result<void> send_operation::await_resume() {
  const std::int32_t got = take();
  if (got < 0) return failure(got);
  return {};
}

}  // namespace skua::inline SKUA_ABI::net
