// src/net/cares_channel.cpp: c-ares with our settings and our way to open sockets.
#include "net/cares_channel.hpp"

#include "io/socket_calls.hpp"
#include "skua/base/error.hpp"
#include "skua/net/dns_error.hpp"

#include <ares.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

namespace skua::inline SKUA_ABI::net {
namespace {

// Sockets as c-ares makes them, but closed on exec from the first moment, and without SIGPIPE. All
// leave their error where c-ares looks for it.

constexpr ares_ssize_t header_length = 12;

void note_code(const unsigned char* header, cares_trouble& into) noexcept {
  const auto code = static_cast<server_refusal>(header[3] & 15U);
  const bool refuses = code == server_refusal::failure || code == server_refusal::unknown ||
                       code == server_refusal::refused;
  if (refuses) into.answered = code;
}

int open_socket(int family, int type, int protocol, void* trouble) {
  auto made = io::new_socket(family, type | SOCK_NONBLOCK, protocol);
  if (made) return made->release();
  static_cast<cares_trouble*>(trouble)->no_socket = made.error();
  return ARES_SOCKET_BAD;
}
int close_socket(int fd, void* /*unused*/) {
  return ::close(fd);
}
int connect_socket(int fd, const sockaddr* to, ares_socklen_t length, void* /*unused*/) {
  return ::connect(fd, to, length);
}
ares_ssize_t receive_from(int fd, void* into, size_t size, int flags, sockaddr* from,
                          ares_socklen_t* length, void* trouble) {
  const ares_ssize_t got = ::recvfrom(fd, into, size, flags, from, length);
  const bool whole_message = from != nullptr;  // not a part of a stream
  if (whole_message && got > header_length)
    note_code(static_cast<const unsigned char*>(into), *static_cast<cares_trouble*>(trouble));
  return got;
}
ares_ssize_t send_all_of(int fd, const iovec* parts, int count, void* /*unused*/) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = static_cast<std::size_t>(count);
  return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}

constexpr ares_socket_functions socket_functions = {open_socket, close_socket, connect_socket,
                                                    receive_from, send_all_of};

/// The library wants to be told once, by one thread, before all else. There is nothing to undo.
bool library_is_ready() noexcept {
  static const int status = ares_library_init(ARES_LIB_INIT_ALL);
  return status == ARES_SUCCESS;
}

int set_servers(ares_channel channel, const std::vector<socket_address>& servers) {
  std::vector<ares_addr_port_node> list(servers.size());
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const ip_address ip = servers[i].ip();
    list[i].family = servers[i].family();
    if (ip.is_v4())
      list[i].addr.addr4 = std::bit_cast<in_addr>(ip.to_v4());
    else
      list[i].addr.addr6 = std::bit_cast<ares_in6_addr>(ip.to_v6());
    list[i].udp_port = list[i].tcp_port = servers[i].port();
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
  }
  return ares_set_servers_ports(channel, list.data());
}

int in_milliseconds(time_span length) noexcept {
  constexpr std::int64_t millisecond = 1'000'000;
  const std::int64_t rounded_up = (length.count() - 1) / millisecond + 1;
  return static_cast<int>(std::min<std::int64_t>(rounded_up, 3'600'000));
}

}  // namespace

void destroy_channel::operator()(ares_channeldata* channel) const noexcept {
  ares_destroy(channel);
}

result<cares_channel> open_channel(const resolver_options& options) {
  if (!library_is_ready()) return fail(std::errc::not_enough_memory);
  ares_options settings{};
  settings.timeout = in_milliseconds(options.timeout());
  settings.tries = static_cast<int>(options.tries());
  char only_servers[] = "b";  // we read the hosts file ourselves
  settings.lookups = only_servers;
  settings.ndomains = 0;
  int set = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS;
  if (!options.servers().empty()) set |= ARES_OPT_DOMAINS;
  ares_channel made = nullptr;
  int status = ares_init_options(&made, &settings, set);
  if (status != ARES_SUCCESS) return fail(error_of_cares(status, {}));
  cares_channel owned(made);
  if (!options.servers().empty()) status = set_servers(made, options.servers());
  if (status != ARES_SUCCESS) return fail(error_of_cares(status, {}));
  return owned;
}

result<cares_channel> copy_channel(const cares_channel& from, cares_trouble& trouble) {
  ares_channel made = nullptr;
  const int status = ares_dup(&made, from.get());
  if (status != ARES_SUCCESS) return fail(error_of_cares(status, {}));
  ares_set_socket_functions(made, &socket_functions, &trouble);
  return cares_channel(made);
}

namespace {

std::error_code why_unreachable(const cares_trouble& before) noexcept {
  if (before.no_socket) return before.no_socket;
  if (before.answered == server_refusal::refused) return dns_errc::refused;
  if (before.answered != server_refusal::none) return dns_errc::server_failure;
  return dns_errc::unreachable;
}

}  // namespace

std::error_code error_of_cares(int status, const cares_trouble& before) noexcept {
  switch (status) {
    case ARES_ENOTFOUND:
    case ARES_ENONAME:
      return dns_errc::not_found;
    case ARES_ENODATA:
      return dns_errc::no_data;
    case ARES_EREFUSED:
      return dns_errc::refused;
    case ARES_ETIMEOUT:
      return dns_errc::timed_out;
    case ARES_ECONNREFUSED:
      return why_unreachable(before);
    case ARES_EBADRESP:
    case ARES_EFORMERR:
    case ARES_EOF:
      return dns_errc::bad_response;
    case ARES_EBADNAME:
    case ARES_EBADSTR:
    case ARES_EBADQUERY:
      return dns_errc::bad_name;
    case ARES_ENOMEM:
      return std::make_error_code(std::errc::not_enough_memory);
    default:
      return dns_errc::server_failure;
  }
}

}  // namespace skua::inline SKUA_ABI::net
