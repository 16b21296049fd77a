// src/io/stream.cpp: requests to move bytes.
#include "skua/io/stream.hpp"

#include <sys/uio.h>

namespace skua::inline SKUA_ABI::io {
namespace {

io_operation<std::size_t> bytes(op_code code, fd_ref fd, const void* address, std::size_t length,
                                std::int64_t offset) noexcept {
  op_request what = fd.request(code);
  what.address = const_cast<void*>(address);
  what.length = length;
  what.offset = offset;
  return io_operation<std::size_t>(what, fd.of());
}

}  // namespace

io_operation<void> nop() noexcept {
  return io_operation<void>(op_request());
}

io_operation<std::size_t> read(fd_ref fd, std::span<std::byte> into, std::int64_t offset) noexcept {
  return bytes(op_code::read, fd, into.data(), into.size(), offset);
}

io_operation<std::size_t> readv(fd_ref fd, std::span<const iovec> into,
                                std::int64_t offset) noexcept {
  return bytes(op_code::readv, fd, into.data(), into.size(), offset);
}

io_operation<std::size_t> write(fd_ref fd, std::span<const std::byte> from,
                                std::int64_t offset) noexcept {
  return bytes(op_code::write, fd, from.data(), from.size(), offset);
}

io_operation<std::size_t> writev(fd_ref fd, std::span<const iovec> from,
                                 std::int64_t offset) noexcept {
  return bytes(op_code::writev, fd, from.data(), from.size(), offset);
}

io_operation<std::size_t> splice(int from, std::int64_t from_offset, int to, std::int64_t to_offset,
                                 std::size_t length, unsigned flags) noexcept {
  op_request what;
  what.code = op_code::splice;
  what.fd = from;
  what.offset = from_offset;
  what.other_fd = to;
  what.other_offset = to_offset;
  what.length = length;
  what.flags = flags;
  return io_operation<std::size_t>(what);
}

io_operation<void> close(unique_fd fd) noexcept {
  op_request what;
  what.code = op_code::close;
  what.fd = fd.release();
  return io_operation<void>(what);
}

}  // namespace skua::inline SKUA_ABI::io
