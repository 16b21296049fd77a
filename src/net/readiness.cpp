// src/net/readiness.cpp: which bits of poll(2) stand for what.
#include "skua/net/readiness.hpp"

#include "skua/io/wait.hpp"

#include <poll.h>

namespace skua::inline SKUA_ABI::net {

io_operation<std::uint32_t> readiness::readable() const noexcept {
  return wait(POLLIN | POLLRDHUP);
}

io_operation<std::uint32_t> readiness::writable() const noexcept {
  return wait(POLLOUT);
}

io_operation<std::uint32_t> readiness::wait(std::uint32_t events) const noexcept {
  return io::poll_fd(owned_ ? io::fd_ref(owned_) : io::fd_ref(number_), events);
}

}  // namespace skua::inline SKUA_ABI::net
