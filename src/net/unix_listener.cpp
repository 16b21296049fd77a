// src/net/unix_listener.cpp: makes a socket's file, in place of a dead one if asked to.
#include "skua/net/unix_listener.hpp"

#include "io/socket_calls.hpp"
#include "net/socket_options.hpp"
#include "net/unix_address.hpp"
#include "skua/base/error.hpp"
#include "skua/io/wait.hpp"

#include <poll.h>

namespace skua::inline SKUA_ABI::net {
namespace {

// A socket at which nobody listens. A full queue is somebody.
bool is_stale(const socket_address& at) noexcept {
  const auto file = io::identity_of(at.path());
  if (!file || !file->is_socket) return false;
  const auto probe = io::new_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK);
  if (!probe) return false;
  const auto answer = io::connect_now(probe->get(), at.data(), at.size());
  return !answer && answer.error() == std::errc::connection_refused;
}

result<void> bind_at(int fd, const socket_address& at, const unix_listen_options& how) noexcept {
  const result<void> done = io::bind_socket(fd, at.data(), at.size());
  if (done || done.error() != std::errc::address_in_use) return done;
  if (!how.replace_stale() || at.path().empty() || !is_stale(at)) return done;
  if (const auto gone = io::unlink_now(at.path()); !gone) return done;
  return io::bind_socket(fd, at.data(), at.size());
}

}  // namespace

result<unix_listener> unix_listener::bind(const socket_address& at,
                                          const unix_listen_options& how) {
  if (const auto is = expect_unix(at); !is) return fail(is.error());
  auto made = io::new_socket(AF_UNIX, SOCK_STREAM);
  if (!made) return fail(made.error());
  const int fd = made->get();
  if (const auto mode = how.permissions(); mode.has_value())
    if (const auto done = io::set_mode(fd, *mode); !done) return fail(done.error());
  if (const auto done = bind_at(fd, at, how); !done) return fail(done.error());
  unix_path_guard file(at);
  if (const auto done = io::listen_at(fd, how.backlog()); !done) return fail(done.error());
  return unix_listener(std::move(*made), std::move(file));
}

result<unix_listener> unix_listener::bind(std::string_view at, const unix_listen_options& how) {
  const result<socket_address> parsed = parse_unix(at);
  if (!parsed) return fail(parsed.error());
  return bind(*parsed, how);
}

result<unix_listener> unix_listener::from_descriptor(unique_fd fd) noexcept {
  if (const auto is = io::expect_socket(fd.get(), AF_UNIX, SOCK_STREAM); !is)
    return fail(is.error());
  const auto listens = flag(fd.get(), SOL_SOCKET, SO_ACCEPTCONN);
  if (!listens) return fail(listens.error());
  if (!*listens) return fail(std::errc::invalid_argument);
  if (const auto done = io::make_usual(fd.get()); !done) return fail(done.error());
  return unix_listener(std::move(fd), unix_path_guard());
}

io_operation<std::uint32_t> unix_listener::readable() noexcept {
  return io::poll_fd(fd_, POLLIN);
}

result<socket_address> unix_listener::local_address() const noexcept {
  return local_address_of(fd_.get());
}

}  // namespace skua::inline SKUA_ABI::net
