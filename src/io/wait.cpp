// src/io/wait.cpp: requests to wait.
#include "skua/io/wait.hpp"

namespace skua::inline SKUA_ABI::io {

io_operation<std::uint32_t> poll_fd(fd_ref fd, std::uint32_t events) noexcept {
  op_request what = fd.request(op_code::poll);
  what.mode = events;
  return io_operation<std::uint32_t>(what, fd.of());
}

io_operation<void> wait_process(fd_ref pidfd, siginfo_t& how, int options) noexcept {
  op_request what = pidfd.request(op_code::wait_process);
  what.address = &how;
  what.flags = static_cast<std::uint32_t>(options);
  return io_operation<void>(what, pidfd.of());
}

io_operation<void> futex_wait(std::uint32_t& word, std::uint32_t expected) noexcept {
  op_request what;
  what.code = op_code::futex_wait;
  what.address = &word;
  what.length = expected;
  return io_operation<void>(what);
}

}  // namespace skua::inline SKUA_ABI::io
