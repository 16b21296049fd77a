// src/driver/blocking_call.cpp: one system call for each op_code.
#include "driver/blocking_call.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace skua::inline SKUA_ABI {
namespace {

constexpr std::uint64_t longest = 0x7ffff000;  // that read(2) and its kin move at once

std::size_t clamped(std::uint64_t length) noexcept {
  return static_cast<std::size_t>(std::min(length, longest));
}

const char* path(const void* address) noexcept {
  return static_cast<const char*>(address);
}

std::int32_t answer(long returned) noexcept {
  return static_cast<std::int32_t>(returned < 0 ? -errno : returned);
}

// A position of -1 is the file's own.
std::int32_t move_bytes(const operation& op) noexcept {
  const iovec one{.iov_base = op.address, .iov_len = clamped(op.length)};
  const bool several = op.code == op_code::readv || op.code == op_code::writev;
  const auto* const vector = several ? static_cast<const iovec*>(op.address) : &one;
  const int count = several ? static_cast<int>(std::min<std::uint64_t>(op.length, 1 << 30)) : 1;
  const bool in = op.code == op_code::read || op.code == op_code::readv;
  return answer(in ? ::preadv2(op.fd, vector, count, op.offset, 0)
                   : ::pwritev2(op.fd, vector, count, op.offset, 0));
}

std::int32_t splice(const operation& op) noexcept {
  loff_t from = op.offset;
  loff_t to = op.other_offset;
  return answer(::splice(op.fd, from == -1 ? nullptr : &from, op.other_fd, to == -1 ? nullptr : &to,
                         clamped(op.length), op.flags));
}

std::int32_t wait_for_events(const operation& op) noexcept {
  if (op.fd < 0) return -EBADF;  // poll(2) would wait for nothing, for ever
  pollfd one{.fd = op.fd, .events = static_cast<short>(op.mode), .revents = 0};
  if (::poll(&one, 1, -1) < 0) return -errno;
  return (one.revents & POLLNVAL) != 0 ? -EBADF : one.revents;
}

// Waits on two words at once: the caller's, and the one that interrupt() changes.
std::int32_t wait_for_futex(operation& op) noexcept {
  const auto word = [](const void* at, std::uint64_t holds) {
    futex_waitv one{};
    one.uaddr = reinterpret_cast<std::uintptr_t>(at);
    one.val = holds;
    one.flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
    return one;
  };
  futex_waitv both[] = {word(op.address, op.length), word(&op.interrupt, 0)};
  const long woken = ::syscall(SYS_futex_waitv, both, 2, 0, nullptr, 0);
  // order: [futex.interrupt] acquire: why it was interrupted.
  if (std::atomic_ref(op.interrupt).load(std::memory_order_acquire) != 0 && woken != 0)
    return -ECANCELED;
  return woken < 0 ? -errno : 0;
}

// Without an address there is no length either, whatever the field says.
std::int32_t accept_one(const operation& op) noexcept {
  auto* const address = static_cast<sockaddr*>(op.address);
  auto* const length = address == nullptr ? nullptr : static_cast<socklen_t*>(op.other_address);
  return answer(::accept4(op.fd, address, length, static_cast<int>(op.flags)));
}

std::int32_t call_once(operation& op) noexcept {
  switch (op.code) {
    case op_code::nop:
      return 0;
    case op_code::read:
    case op_code::write:
    case op_code::readv:
    case op_code::writev:
      return move_bytes(op);
    case op_code::recv:
      return answer(::recv(op.fd, op.address, clamped(op.length), static_cast<int>(op.flags)));
    case op_code::send:
    case op_code::send_zc:
      return answer(
          ::send(op.fd, op.address, clamped(op.length), static_cast<int>(op.flags) | MSG_NOSIGNAL));
    case op_code::recvmsg:
      return answer(::recvmsg(op.fd, static_cast<msghdr*>(op.address), static_cast<int>(op.flags)));
    case op_code::sendmsg:
      return answer(::sendmsg(op.fd, static_cast<const msghdr*>(op.address),
                              static_cast<int>(op.flags) | MSG_NOSIGNAL));
    case op_code::accept:
      return accept_one(op);
    case op_code::connect:
      return answer(::connect(op.fd, static_cast<const sockaddr*>(op.address),
                              static_cast<socklen_t>(op.length)));
    case op_code::close:
      return answer(::close(op.fd));
    case op_code::shutdown:
      return answer(::shutdown(op.fd, static_cast<int>(op.flags)));
    case op_code::open:
      return answer(::openat(op.fd, path(op.address), static_cast<int>(op.flags), op.mode));
    case op_code::fsync:
      return answer(::fsync(op.fd));
    case op_code::fdatasync:
      return answer(::fdatasync(op.fd));
    case op_code::fallocate:
      return answer(
          ::fallocate(op.fd, static_cast<int>(op.mode), op.offset, static_cast<off_t>(op.length)));
    case op_code::ftruncate:
      return answer(::ftruncate(op.fd, static_cast<off_t>(op.length)));
    case op_code::statx:
      return answer(::statx(op.fd, path(op.address), static_cast<int>(op.flags), op.mode,
                            static_cast<struct ::statx*>(op.other_address)));
    case op_code::rename:
      return answer(
          ::renameat2(op.fd, path(op.address), op.other_fd, path(op.other_address), op.flags));
    case op_code::unlink:
      return answer(::unlinkat(op.fd, path(op.address), static_cast<int>(op.flags)));
    case op_code::mkdir:
      return answer(::mkdirat(op.fd, path(op.address), op.mode));
    case op_code::link:
      return answer(::linkat(op.fd, path(op.address), op.other_fd, path(op.other_address),
                             static_cast<int>(op.flags)));
    case op_code::symlink:
      return answer(::symlinkat(path(op.address), op.other_fd, path(op.other_address)));
    case op_code::splice:
      return splice(op);
    case op_code::poll:
      return wait_for_events(op);
    case op_code::wait_process:
      return answer(::waitid(P_PIDFD, static_cast<id_t>(op.fd), static_cast<siginfo_t*>(op.address),
                             static_cast<int>(op.flags)));
    case op_code::futex_wait:
      return wait_for_futex(op);
  }
  return -EINVAL;
}

}  // namespace

std::int32_t call_and_block(operation& op) noexcept {
  // close(2) has closed even if it was interrupted, and futex_wait says so itself.
  const bool again = op.code != op_code::close;
  for (;;)
    if (const std::int32_t got = call_once(op); got != -EINTR || !again) return got;
}

void interrupt(operation& op) noexcept {
  if (op.code != op_code::futex_wait) return;
  // order: [futex.interrupt] release: why.
  std::atomic_ref(op.interrupt).store(1, std::memory_order_release);
  ::syscall(SYS_futex, &op.interrupt, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

std::int32_t look_at_process(const operation& op) noexcept {
  siginfo_t unused;
  const int options = static_cast<int>(op.flags) | WNOHANG | WNOWAIT;
  return ::waitid(P_PIDFD, static_cast<id_t>(op.fd), &unused, options) == 0 ? 0 : -errno;
}

std::int32_t take_process_end(const operation& op) noexcept {
  auto* const end = static_cast<siginfo_t*>(op.address);
  end->si_pid = 0;
  if (::waitid(P_PIDFD, static_cast<id_t>(op.fd), end, static_cast<int>(op.flags) | WNOHANG) != 0)
    return -errno;
  return end->si_pid == 0 ? -EAGAIN : 0;
}

}  // namespace skua::inline SKUA_ABI
