// src/driver/epoll/attempt.cpp: system calls with the flag that keeps each of them from blocking.
#include "driver/epoll/attempt.hpp"

#include "driver/blocking_call.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <span>

namespace skua::inline SKUA_ABI {
namespace {

constexpr std::uint64_t longest = 0x7ffff000;  // that read(2) and its kin move at once
constexpr tried waits{tried::outcome::waits};
constexpr tried blocks{tried::outcome::blocks};

std::size_t clamped(std::uint64_t length) noexcept {
  return static_cast<std::size_t>(std::min(length, longest));
}

tried ended(std::int32_t result) noexcept {
  return {.how = tried::outcome::ended, .result = result};
}

tried ended_unless_again(std::int32_t result) noexcept {
  return result == -EAGAIN ? waits : ended(result);
}

// Calls until no signal comes in between, and gives a negated errno for a failure.
template <typename Call>
std::int32_t call(Call once) noexcept {
  for (;;) {
    const auto returned = once();
    if (returned >= 0) return static_cast<std::int32_t>(returned);
    if (errno != EINTR) return -errno;
  }
}

// --- descriptors

// Poll bits that hold now; a negated errno.
std::int32_t holds_now(int fd, std::uint32_t events) noexcept {
  if (fd < 0) return -EBADF;
  pollfd one{.fd = fd, .events = static_cast<short>(events), .revents = 0};
  const std::int32_t count = call([&] { return ::poll(&one, 1, 0); });
  if (count < 0) return count;
  return (one.revents & POLLNVAL) != 0 ? -EBADF : one.revents;
}

/// S_IF*, or 0 if it is none.
mode_t kind_of(int fd) noexcept {
  struct stat about{};
  return ::fstat(fd, &about) == 0 ? about.st_mode & S_IFMT : 0;
}

bool is_file_or_disk(mode_t kind) noexcept {
  return kind == S_IFREG || kind == S_IFBLK;
}

bool is_nonblocking(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

// Errors are left to the call that comes next.
void make_nonblocking(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK) == 0) ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

int option_of(int fd, int name) noexcept {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

// --- reading and writing

bool reads(const operation& op) noexcept {
  return op.code == op_code::read || op.code == op_code::readv;
}

bool scatters(const operation& op) noexcept {
  return op.code == op_code::readv || op.code == op_code::writev;
}

bool moves_nothing(const operation& op) noexcept {
  if (!scatters(op)) return op.length == 0;
  const std::span all(static_cast<const iovec*>(op.address), op.length);
  return op.length <= IOV_MAX && std::ranges::all_of(all, [](auto& one) { return !one.iov_len; });
}

std::int32_t move_without_waiting(const operation& op) noexcept {
  const iovec one{.iov_base = op.address, .iov_len = clamped(op.length)};
  const bool several = scatters(op);
  const auto* const vector = several ? static_cast<const iovec*>(op.address) : &one;
  const int count = several ? static_cast<int>(std::min<std::uint64_t>(op.length, 1 << 30)) : 1;
  if (reads(op))
    return call([&] { return ::preadv2(op.fd, vector, count, op.offset, RWF_NOWAIT); });
  return call([&] { return ::pwritev2(op.fd, vector, count, op.offset, RWF_NOWAIT); });
}

// The file cannot be told not to block: a thread of the pool may, when the descriptor is ready.
tried move_when_ready(operation& op) noexcept {
  op.stage = true;
  return holds_now(op.fd, reads(op) ? POLLIN : POLLOUT) == 0 ? waits : blocks;
}

tried move(operation& op) noexcept {
  if (op.stage) return move_when_ready(op);
  const std::int32_t got = move_without_waiting(op);
  if (got != -EOPNOTSUPP && got != -EAGAIN) return ended(got);
  if (moves_nothing(op)) return ended(0);
  if (got == -EAGAIN) return waits;
  if (is_file_or_disk(kind_of(op.fd))) return blocks;
  if (is_nonblocking(op.fd)) return ended_unless_again(call_and_block(op));
  return move_when_ready(op);
}

// --- sockets

std::int32_t transfer(const operation& op, std::size_t from, std::size_t length) noexcept {
  auto* const at = static_cast<std::byte*>(op.address) + from;
  const int flags = static_cast<int>(op.flags) | MSG_DONTWAIT;
  if (op.code == op_code::recv) return call([&] { return ::recv(op.fd, at, length, flags); });
  return call([&] { return ::send(op.fd, at, length, flags | MSG_NOSIGNAL); });
}

bool wants_all(const operation& op) noexcept {
  if ((op.flags & MSG_WAITALL) == 0) return false;
  const int type = option_of(op.fd, SO_TYPE);
  return type == SOCK_STREAM || type == SOCK_SEQPACKET;
}

// The caller of a system call with this flag wants to hear that it would block.
tried unless_asked_to_wait(const operation& op, std::int32_t result) noexcept {
  return (op.flags & MSG_DONTWAIT) != 0 ? ended(result) : ended_unless_again(result);
}

tried transfer_all(operation& op) noexcept {
  const std::size_t length = clamped(op.length);
  for (;;) {
    const auto moved = static_cast<std::size_t>(op.result);
    const std::int32_t got = transfer(op, moved, length - moved);
    if (got == -EAGAIN && (op.flags & MSG_DONTWAIT) == 0) return waits;
    if (got <= 0) return ended(moved > 0 ? op.result : got);
    op.result += got;
    if (static_cast<std::size_t>(op.result) == length || !wants_all(op)) return ended(op.result);
  }
}

tried message(const operation& op) noexcept {
  auto* const what = static_cast<msghdr*>(op.address);
  const int flags = static_cast<int>(op.flags) | MSG_DONTWAIT;
  if (op.code == op_code::recvmsg)
    return unless_asked_to_wait(op, call([&] { return ::recvmsg(op.fd, what, flags); }));
  return unless_asked_to_wait(op,
                              call([&] { return ::sendmsg(op.fd, what, flags | MSG_NOSIGNAL); }));
}

tried accept(operation& op, mode_known mode) noexcept {
  if (mode == mode_known::no) make_nonblocking(op.fd);
  return ended_unless_again(call_and_block(op));
}

// An event may tell of the time before the connection was begun: writable is what counts.
tried connect(operation& op) noexcept {
  if (!op.stage) {
    make_nonblocking(op.fd);
    const std::int32_t got = call_and_block(op);
    if (got != -EINPROGRESS) return ended(got);
    op.stage = true;
    return waits;
  }
  const std::int32_t now = holds_now(op.fd, POLLOUT);
  if (now == 0) return waits;
  if (now < 0) return ended(now);
  // Asked once more, the socket tells how it went, and knows that it is connected.
  const std::int32_t again = call_and_block(op);
  if (again == -EINPROGRESS || again == -EALREADY) return waits;
  return ended(again == -EISCONN ? 0 : again);
}

// --- between two descriptors

// Of a socket, SPLICE_F_NONBLOCK says nothing, and of a file neither.
bool splice_may_block(const operation& op) noexcept {
  for (const int fd : {op.fd, op.other_fd}) {
    const mode_t kind = kind_of(fd);
    if (kind == S_IFSOCK) make_nonblocking(fd);
    if (is_file_or_disk(kind) || (kind != S_IFIFO && !is_nonblocking(fd))) return true;
  }
  return false;
}

std::int32_t splice_without_waiting(const operation& op) noexcept {
  loff_t from = op.offset;
  loff_t to = op.other_offset;
  return call([&] {
    return ::splice(op.fd, from == -1 ? nullptr : &from, op.other_fd, to == -1 ? nullptr : &to,
                    clamped(op.length), op.flags | SPLICE_F_NONBLOCK);
  });
}

// What was ready may be gone again, if others read there, or not be enough; then only the call
// itself knows for what it waits.
tried splice(const operation& op) noexcept {
  constexpr int tries = 3;
  for (int i = 0; i < tries; ++i) {
    if (holds_now(op.fd, POLLIN) == 0) return waits;
    if (holds_now(op.other_fd, POLLOUT) == 0)
      return {.how = tried::outcome::waits, .for_other_fd = true};
    if (splice_may_block(op)) break;
    const std::int32_t got = splice_without_waiting(op);
    if (got != -EAGAIN || (op.flags & SPLICE_F_NONBLOCK) != 0) return ended(got);
  }
  return blocks;
}

tried watch(const operation& op) noexcept {
  const std::int32_t now = holds_now(op.fd, op.mode);
  return now == 0 ? waits : ended(now);
}

bool reads_errors(const operation& op) noexcept {
  return op.code == op_code::recvmsg && (op.flags & MSG_ERRQUEUE) != 0;
}

}  // namespace

tried attempt(operation& op, mode_known mode) noexcept {
  switch (op.code) {
    case op_code::nop:
      return ended(0);
    case op_code::read:
    case op_code::write:
    case op_code::readv:
    case op_code::writev:
      return move(op);
    case op_code::recv:
    case op_code::send:
    case op_code::send_zc:
      return transfer_all(op);
    case op_code::recvmsg:
    case op_code::sendmsg:
      return message(op);
    case op_code::accept:
      return accept(op, mode);
    case op_code::connect:
      return connect(op);
    case op_code::shutdown:
      return ended(call_and_block(op));
    case op_code::splice:
      return splice(op);
    case op_code::poll:
      return watch(op);
    case op_code::wait_process:
      return ended_unless_again(take_process_end(op));
    default:
      return blocks;
  }
}

line line_of(const operation& op) noexcept {
  switch (op.code) {
    case op_code::write:
    case op_code::writev:
    case op_code::send:
    case op_code::send_zc:
    case op_code::sendmsg:
    case op_code::connect:
      return line::writers;
    case op_code::poll:
    case op_code::splice:
      return line::watchers;
    default:
      return reads_errors(op) ? line::watchers : line::readers;
  }
}

std::uint32_t events_of(const operation& op) noexcept {
  if (op.code == op_code::poll) return op.mode & 0xffff;  // the same bits, and no flag of epoll
  if (op.code == op_code::splice) return op.stage ? EPOLLOUT : EPOLLIN | EPOLLRDHUP;
  if (reads_errors(op)) return EPOLLERR;
  return line_of(op) == line::writers ? EPOLLOUT : EPOLLIN | EPOLLRDHUP;
}

bool out_of_line(const operation& op) noexcept {
  switch (op.code) {
    case op_code::read:
    case op_code::write:
    case op_code::readv:
    case op_code::writev:
      return moves_nothing(op);
    case op_code::recv:
    case op_code::recvmsg:
    case op_code::send:
    case op_code::send_zc:
    case op_code::sendmsg:
      return (op.flags & MSG_DONTWAIT) != 0 || line_of(op) == line::watchers;
    case op_code::accept:
    case op_code::wait_process:
      return false;
    default:
      return true;
  }
}

bool fell_short(const operation& op, std::int32_t result) noexcept {
  if (result <= 0 || static_cast<std::uint64_t>(result) >= clamped(op.length)) return false;
  switch (op.code) {
    case op_code::recv:
    case op_code::send:
    case op_code::send_zc:
      return (op.flags & ~std::uint32_t{MSG_NOSIGNAL}) == 0;
    case op_code::read:
    case op_code::write:
      return true;
    default:
      return false;
  }
}

bool is_tcp(int fd) noexcept {
  return option_of(fd, SO_PROTOCOL) == IPPROTO_TCP;
}

bool closes_slowly(int fd) noexcept {
  linger how{};
  socklen_t size = sizeof how;
  if (::getsockopt(fd, SOL_SOCKET, SO_LINGER, &how, &size) == 0)
    return how.l_onoff != 0 && how.l_linger != 0;
  struct stat about{};
  if (::fstat(fd, &about) != 0) return false;
  return !S_ISFIFO(about.st_mode) && (about.st_mode & S_IFMT) != 0;
}

}  // namespace skua::inline SKUA_ABI
