// src/net/tcp_listener.cpp: opens a port.
#include "skua/net/tcp_listener.hpp"

#include "io/socket_calls.hpp"
#include "net/socket_options.hpp"
#include "skua/base/error.hpp"
#include "skua/io/fd_ref.hpp"
#include "skua/io/wait.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

namespace skua::inline SKUA_ABI::net {
namespace {

result<void> apply(int fd, int family, const listen_options& how) noexcept {
  if (how.reuse_address())
    if (const auto done = io::set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1); !done) return done;
  if (how.reuse_port())
    if (const auto done = io::set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1); !done) return done;
  if (how.nodelay())
    if (const auto done = io::set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1); !done) return done;
  if (family != AF_INET6) return {};
  return io::set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, how.v6only() ? 1 : 0);
}

}  // namespace

op_request accept_request(const io::descriptor& at) noexcept {
  op_request what = io::fd_ref(at).request(op_code::accept);
  what.flags = SOCK_CLOEXEC;
  return what;
}

result<tcp_listener> tcp_listener::bind(const socket_address& at, const listen_options& how) {
  if (const auto is = expect_ip(at); !is) return fail(is.error());
  auto made = io::new_socket(at.family(), SOCK_STREAM, IPPROTO_TCP);
  if (!made) return fail(made.error());
  const int fd = made->get();
  if (const auto done = apply(fd, at.family(), how); !done) return fail(done.error());
  if (const auto done = io::bind_socket(fd, at.data(), at.size()); !done) return fail(done.error());
  if (const auto done = io::listen_at(fd, how.backlog()); !done) return fail(done.error());
  return tcp_listener(std::move(*made));
}

result<tcp_listener> tcp_listener::bind(std::string_view at, const listen_options& how) {
  const result<socket_address> parsed = socket_address::parse(at);
  if (!parsed) return fail(parsed.error());
  return bind(*parsed, how);
}

result<tcp_listener> tcp_listener::from_descriptor(unique_fd fd) noexcept {
  if (const auto is = io::expect_socket(fd.get(), AF_UNSPEC, SOCK_STREAM); !is)
    return fail(is.error());
  const auto listens = flag(fd.get(), SOL_SOCKET, SO_ACCEPTCONN);
  if (!listens) return fail(listens.error());
  if (!*listens) return fail(std::errc::invalid_argument);
  if (const auto done = io::make_usual(fd.get()); !done) return fail(done.error());
  return tcp_listener(std::move(fd));
}

io_operation<std::uint32_t> tcp_listener::readable() noexcept {
  return io::poll_fd(fd_, POLLIN);
}

result<socket_address> tcp_listener::local_address() const noexcept {
  return local_address_of(fd_.get());
}

}  // namespace skua::inline SKUA_ABI::net
