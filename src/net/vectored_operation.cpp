// src/net/vectored_operation.cpp: a message without a name.
#include "skua/net/vectored_operation.hpp"

#include "skua/io/fd_ref.hpp"

#include <algorithm>
#include <climits>

namespace skua::inline SKUA_ABI::net {
namespace {

bool is_nothing(std::span<const iovec> buffers) noexcept {
  return std::ranges::all_of(buffers, [](const iovec& one) { return one.iov_len == 0; });
}

// Without room, recvmsg(2) waits until something has come, and gives nothing then.
op_request about(const io::descriptor& on, msghdr& message, std::span<const iovec> buffers,
                 vectored_operation::direction which) noexcept {
  const bool sends = which == vectored_operation::direction::send;
  if (!sends && is_nothing(buffers)) return io::fd_ref(on).request(op_code::read);
  op_request what = io::fd_ref(on).request(sends ? op_code::sendmsg : op_code::recvmsg);
  what.address = &message;
  what.length = 1;
  what.flags = sends ? MSG_NOSIGNAL : 0;
  return what;
}

}  // namespace

vectored_operation::vectored_operation(const io::descriptor& on, std::span<const iovec> buffers,
                                       direction which) noexcept
    : io_wait(about(on, message_, buffers, which), &on) {
  message_.msg_iov = const_cast<iovec*>(buffers.data());
  message_.msg_iovlen = std::min<std::size_t>(buffers.size(), IOV_MAX);
}

}  // namespace skua::inline SKUA_ABI::net
