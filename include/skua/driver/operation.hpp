// skua/driver/operation.hpp: one request to the kernel, from submission to its last completion.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/pool_job.hpp"
#include "skua/driver/timer.hpp"

#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

class driver;

/// What is asked for, and the fields of `operation` that say so besides `fd`.
enum class op_code : std::uint8_t {
  nop,           // none
  read,          // address, length, offset
  write,         // address, length, offset
  readv,         // address: iovec, length: how many, offset
  writev,        // address: iovec, length: how many, offset
  recv,          // address, length, flags: MSG_*
  send,          // address, length, flags: MSG_*
  send_zc,       // as send; the kernel reads the buffer until the operation has ended
  recvmsg,       // address: msghdr, flags: MSG_*
  sendmsg,       // address: msghdr, flags: MSG_*
  accept,        // address: sockaddr or null, other_address: its socklen_t, flags: SOCK_*
  connect,       // address: sockaddr, length
  close,         // none
  shutdown,      // flags: SHUT_*
  open,          // fd: a directory, address: path, flags: O_*, mode
  fsync,         // none
  fdatasync,     // none
  fallocate,     // mode, offset, length
  ftruncate,     // length
  statx,         // fd: a directory, address: path, flags: AT_*, mode: mask, other_address: result
  rename,        // fd, address: from; other_fd, other_address: to; flags: RENAME_*
  unlink,        // fd: a directory, address: path, flags: AT_*
  mkdir,         // fd: a directory, address: path, mode
  link,          // fd, address: existing; other_fd, other_address: new; flags: AT_*
  symlink,       // address: what it says; other_fd, other_address: new
  splice,        // fd, offset: from; other_fd, other_offset: to; length; flags: SPLICE_F_*
  poll,          // mode: POLL*; gives those that hold
  wait_process,  // fd: a pidfd, address: siginfo_t, flags: W*
  futex_wait,    // address: std::uint32_t of this process, length: what it holds
};
inline constexpr std::size_t op_code_count = static_cast<std::size_t>(op_code::futex_wait) + 1;

/// What to do; see op_code for which fields count. None has both fields of a union; the first one
/// has a value at first, so who splices sets `other_offset`, be it to -1. It is part of every wait
/// for I/O, and so of every connection: small fields are last, where those of `operation` go on.
struct op_request {
  union {
    void* address = nullptr;
    std::int64_t other_offset;
  };
  union {
    std::int64_t offset = -1;
    void* other_address;
  };
  std::uint64_t length = 0;
  /// Not 0: names the owner of `fd`, through whom alone it is closed. What is known about the
  /// number holds for as long as requests name the same one. No two owners have the same name.
  std::uint64_t owner = 0;
  int fd = -1;
  int other_fd = -1;
  std::uint32_t flags = 0;
  std::uint32_t mode = 0;
  op_code code = op_code::nop;
};

/// Lives in whoever waits for it, and stays where it is from driver::submit() until `done` is
/// called or driver::cancel() has taken it back. So does all that it points to.
///
/// It is on one list at a time: of its driver's, or of the blocking pool's if it has to block a
/// thread. As a timer, which fires nothing, it is its own timeout.
struct operation : pool_job, timer, op_request {
  using done_function = void (*)(operation&) noexcept;

  operation(const op_request& what, done_function when_done) noexcept
      : pool_job(nullptr), timer(nullptr), op_request(what), done(when_done) {}

  enum class place : std::uint8_t {
    nowhere,    // not submitted, or ended
    queued,     // on a list of the driver's; the kernel knows nothing of it
    in_kernel,  // handed over, and not come back
    in_pool,    // a thread of the blocking pool does it, or will
  };
  enum class cancelling : std::uint8_t {
    no,
    wanted,    // asked for, not yet handed to the kernel
    sent,      // handed to the kernel, which has not answered
    answered,  // it has: the operation ends soon, or cannot be stopped
  };

  /// Its timeout; none without a deadline.
  [[nodiscard]] timer& expiry() noexcept { return *this; }
  [[nodiscard]] const timer& expiry() const noexcept { return *this; }

  // From here on in the order that leaves no gaps.

  /// The cancellation was the timeout's.
  bool timed_out = false;

  // For the driver that has it, under that driver's lock.
  place at = place::nowhere;
  cancelling cancel = cancelling::no;

  /// How it ended: what the system call would have returned, or a negated errno. -ECANCELED:
  /// cancelled.
  std::int32_t result = 0;

  /// Called once, from any thread, with no lock held. The operation may be gone when it returns.
  done_function done;

  /// Who has it, or had it last: set by whoever submits it, or by the driver behind that one, which
  /// may be asked to cancel it likewise.
  driver* home = nullptr;

  // For the driver again.

  /// Interrupts one that blocks a thread of the pool, where that is possible.
  std::uint32_t interrupt = 0;
  bool last_is_in = false;  // the last completion, while the answer to the cancellation is not
  bool stage = false;       // the second of two steps
};

}  // namespace skua::inline SKUA_ABI
