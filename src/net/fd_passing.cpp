// src/net/fd_passing.cpp: control messages, written and read.
#include "skua/net/fd_passing.hpp"

#include "skua/base/check.hpp"
#include "skua/io/fd_ref.hpp"

#include <algorithm>
#include <cstring>

namespace skua::inline SKUA_ABI::net {
namespace {

op_request about(op_code code, const io::descriptor& on, fd_message& message, int flags) noexcept {
  op_request what = io::fd_ref(on).request(code);
  what.address = &message.header();
  what.length = 1;
  what.flags = static_cast<std::uint32_t>(flags);
  return what;
}

bool carries_fds(const cmsghdr& part) noexcept {
  return part.cmsg_level == SOL_SOCKET && part.cmsg_type == SCM_RIGHTS;
}

}  // namespace

fd_message::fd_message() noexcept {
  header_.msg_iov = &bytes_;
  header_.msg_iovlen = 1;
}

void fd_message::carry(std::span<const std::byte> bytes, std::span<const int> fds) noexcept {
  check(fds.size() <= most_passed_fds, "a message carries at most 253 descriptors");
  bytes_ = {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  if (fds.empty()) return;
  header_.msg_control = control_.data();
  header_.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr part{};
  part.cmsg_level = SOL_SOCKET;
  part.cmsg_type = SCM_RIGHTS;
  part.cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(control_.data(), &part, sizeof part);
  std::memcpy(control_.data() + CMSG_LEN(0), fds.data(), fds.size_bytes());
}

void fd_message::make_room(std::span<std::byte> bytes, std::size_t fds) noexcept {
  bytes_ = {.iov_base = bytes.data(), .iov_len = bytes.size()};
  make_room(fds);
}

// CMSG_LEN, not CMSG_SPACE: the kernel would use the padding for one more.
void fd_message::make_room(std::size_t fds) noexcept {
  header_.msg_control = control_.data();
  header_.msg_controllen = fds == 0 ? 0 : CMSG_LEN(std::min(fds, most_passed_fds) * sizeof(int));
}

std::size_t fd_message::take(std::span<unique_fd> into) noexcept {
  std::size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header_); part != nullptr;
       part = CMSG_NXTHDR(&header_, part)) {
    if (!carries_fds(*part)) continue;
    const std::size_t have = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < have; ++i, ++count) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      unique_fd one(number);
      if (count < into.size()) into[count] = std::move(one);
    }
  }
  header_.msg_controllen = 0;
  return count;
}

bool fd_message::lost_fds() const noexcept {
  return (header_.msg_flags & MSG_CTRUNC) != 0;
}

bool fd_message::lost_bytes() const noexcept {
  return (header_.msg_flags & MSG_TRUNC) != 0;
}

send_fds_operation::send_fds_operation(const io::descriptor& on, std::span<const std::byte> bytes,
                                       std::span<const int> fds) noexcept
    : io_wait(about(op_code::sendmsg, on, message_, MSG_NOSIGNAL), &on) {
  message_.carry(bytes, fds);
}

result<std::size_t> send_fds_operation::await_resume() {
  const std::int32_t got = take();
  if (got < 0) return failure(got);
  return static_cast<std::size_t>(got);
}

receive_fds_operation::receive_fds_operation(const io::descriptor& on, std::span<std::byte> into,
                                             std::span<unique_fd> fds) noexcept
    : io_wait(about(op_code::recvmsg, on, message_, MSG_CMSG_CLOEXEC), &on), fds_(fds) {
  message_.make_room(into, fds.size());
}

receive_fds_operation::~receive_fds_operation() {
  if (not_taken() >= 0) message_.take({});
}

result<received_fds> receive_fds_operation::await_resume() {
  const std::int32_t got = take();
  if (got < 0) return failure(got);
  const bool cut = message_.lost_fds() || message_.lost_bytes();
  const std::size_t came = message_.take(fds_);
  message_.make_room(fds_.size());  // if it is awaited again
  return received_fds(static_cast<std::size_t>(got), std::min(came, fds_.size()),
                      cut || came > fds_.size());
}

}  // namespace skua::inline SKUA_ABI::net
