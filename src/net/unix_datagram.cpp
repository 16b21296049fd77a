// src/net/unix_datagram.cpp: makes sockets with and without names.
#include "skua/net/unix_datagram.hpp"

#include "io/socket_calls.hpp"
#include "net/unix_address.hpp"
#include "skua/base/error.hpp"

#include <sys/socket.h>

namespace skua::inline SKUA_ABI::net {

result<unix_datagram> unix_datagram::bind(const socket_address& at) {
  if (const auto is = expect_unix(at); !is) return fail(is.error());
  auto made = io::new_socket(AF_UNIX, SOCK_DGRAM);
  if (!made) return fail(made.error());
  const auto done = io::bind_socket(made->get(), at.data(), at.size());
  if (!done) return fail(done.error());
  return unix_datagram(std::move(*made), unix_path_guard(at));
}

result<unix_datagram> unix_datagram::bind(std::string_view at) {
  const result<socket_address> parsed = parse_unix(at);
  if (!parsed) return fail(parsed.error());
  return bind(*parsed);
}

result<unix_datagram> unix_datagram::unbound() noexcept {
  auto made = io::new_socket(AF_UNIX, SOCK_DGRAM);
  if (!made) return fail(made.error());
  return unix_datagram(std::move(*made));
}

result<std::pair<unix_datagram, unix_datagram>> unix_datagram::pair() noexcept {
  auto made = io::new_socket_pair(SOCK_DGRAM);
  if (!made) return fail(made.error());
  return std::pair(unix_datagram(std::move(made->first)), unix_datagram(std::move(made->second)));
}

result<unix_datagram> unix_datagram::from_descriptor(unique_fd fd) noexcept {
  if (const auto is = io::expect_socket(fd.get(), AF_UNIX, SOCK_DGRAM); !is)
    return fail(is.error());
  if (const auto done = io::make_usual(fd.get()); !done) return fail(done.error());
  return unix_datagram(std::move(fd));
}

}  // namespace skua::inline SKUA_ABI::net
