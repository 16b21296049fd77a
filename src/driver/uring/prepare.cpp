// src/driver/uring/prepare.cpp: which field of an entry takes what.
#include "driver/uring/prepare.hpp"

#include "driver/uring/kernel_abi.hpp"

#include <algorithm>
#include <array>

namespace skua::inline SKUA_ABI {
namespace {

/// The most that read(2) and its kin move at once.
constexpr std::uint64_t longest = 0x7ffff000;

std::uint32_t clamped(std::uint64_t length) noexcept {
  return static_cast<std::uint32_t>(std::min(length, longest));
}

std::uint64_t as_number(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}

constexpr std::array<std::uint8_t, op_code_count> codes = {
    IORING_OP_NOP,
    IORING_OP_READ,
    IORING_OP_WRITE,
    IORING_OP_READV,
    IORING_OP_WRITEV,
    IORING_OP_RECV,
    IORING_OP_SEND,
    IORING_OP_SEND_ZC,
    IORING_OP_RECVMSG,
    IORING_OP_SENDMSG,
    IORING_OP_ACCEPT,
    IORING_OP_CONNECT,
    IORING_OP_CLOSE,
    IORING_OP_SHUTDOWN,
    IORING_OP_OPENAT,
    IORING_OP_FSYNC,
    IORING_OP_FSYNC,
    IORING_OP_FALLOCATE,
    kernel_abi::op_ftruncate,
    IORING_OP_STATX,
    IORING_OP_RENAMEAT,
    IORING_OP_UNLINKAT,
    IORING_OP_MKDIRAT,
    IORING_OP_LINKAT,
    IORING_OP_SYMLINKAT,
    IORING_OP_SPLICE,
    IORING_OP_POLL_ADD,
    IORING_OP_POLL_ADD,
    kernel_abi::op_futex_wait,
};

}  // namespace

std::uint8_t uring_code(op_code code) noexcept {
  return codes[static_cast<std::size_t>(code)];
}

void prepare(io_uring_sqe& entry, const operation& op) noexcept {
  entry.opcode = uring_code(op.code);
  entry.fd = op.fd;
  entry.addr = as_number(op.address);
  switch (op.code) {
    case op_code::nop:
    case op_code::close:
    case op_code::fsync:
      break;
    case op_code::fdatasync:
      entry.fsync_flags = IORING_FSYNC_DATASYNC;
      break;
    case op_code::read:
    case op_code::write:
      entry.len = clamped(op.length);
      entry.off = static_cast<std::uint64_t>(op.offset);
      break;
    case op_code::readv:
    case op_code::writev:
      entry.len = static_cast<std::uint32_t>(op.length);
      entry.off = static_cast<std::uint64_t>(op.offset);
      break;
    case op_code::recv:
    case op_code::send:
    case op_code::send_zc:
      entry.len = clamped(op.length);
      entry.msg_flags = op.flags;
      break;
    case op_code::recvmsg:
    case op_code::sendmsg:
      entry.len = 1;
      entry.msg_flags = op.flags;
      break;
    case op_code::accept:
      entry.addr2 = as_number(op.other_address);
      entry.accept_flags = op.flags;
      break;
    case op_code::connect:
      entry.off = op.length;
      break;
    case op_code::shutdown:
      entry.len = op.flags;
      break;
    case op_code::open:
      entry.open_flags = op.flags;
      entry.len = op.mode;
      break;
    case op_code::fallocate:
      entry.addr = op.length;
      entry.off = static_cast<std::uint64_t>(op.offset);
      entry.len = op.mode;
      break;
    case op_code::ftruncate:
      entry.off = op.length;
      break;
    case op_code::statx:
      entry.statx_flags = op.flags;
      entry.len = op.mode;
      entry.off = as_number(op.other_address);
      break;
    case op_code::rename:
      entry.len = static_cast<std::uint32_t>(op.other_fd);
      entry.off = as_number(op.other_address);
      entry.rename_flags = op.flags;
      break;
    case op_code::unlink:
      entry.unlink_flags = op.flags;
      break;
    case op_code::mkdir:
      entry.len = op.mode;
      break;
    case op_code::link:
      entry.len = static_cast<std::uint32_t>(op.other_fd);
      entry.off = as_number(op.other_address);
      entry.hardlink_flags = op.flags;
      break;
    case op_code::symlink:
      entry.fd = op.other_fd;
      entry.off = as_number(op.other_address);
      break;
    case op_code::splice:
      entry.fd = op.other_fd;
      entry.splice_fd_in = op.fd;
      entry.splice_off_in = static_cast<std::uint64_t>(op.offset);
      entry.off = static_cast<std::uint64_t>(op.other_offset);
      entry.len = clamped(op.length);
      entry.splice_flags = op.flags;
      break;
    case op_code::poll:
      entry.poll32_events = op.mode;
      break;
    case op_code::wait_process:
      entry.addr = 0;
      entry.poll32_events = 0x001;  // POLLIN: it has ended
      break;
    case op_code::futex_wait:
      entry.fd = kernel_abi::futex_size_u32 | kernel_abi::futex_private;
      entry.off = op.length;
      entry.addr3 = kernel_abi::futex_any_bit;
      break;
  }
}

}  // namespace skua::inline SKUA_ABI
