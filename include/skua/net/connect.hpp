// skua/net/connect.hpp: a TCP connection to a host by its name, whichever of its addresses answers.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/net/connect_options.hpp"
#include "skua/net/socket_address.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace skua::inline SKUA_ABI::net {

class resolver;

/// Connects to `host`, a name or a numeric address, as RFC 8305 ("happy eyeballs") says: asks for
/// addresses of both versions of IP, tries them in turn, IPv6 first and then alternating, and does
/// not wait for one that hangs before it tries the next: see connect_options. Does not wait for the
/// slower lookup, either. The first that answers is given; all other attempts are stopped, awaited
/// and closed. Gives a connected TCP socket, closed on exec; on epoll it has O_NONBLOCK set.
///
/// Suspends. All of it runs in turns within this task. Stopped: all attempts are. There is no limit
/// of time but the kernel's, which is minutes: use timeout(). `host` is copied; the resolver is
/// borrowed.
///
/// Errors: those of resolver::lookup() if there was no address to try. If all attempts failed, the
/// last error that an address gave, connection_refused, say, rather than one that says that we
/// cannot even begin (network_unreachable, address_not_available, address_family_not_supported).
[[nodiscard, gnu::visibility("default")]] task<result<io::descriptor>> connect(
    resolver& names, std::string_view host, std::uint16_t port,
    connect_options options = connect_options());

/// The same with a resolver that is made for this one connection: simple, and slower.
[[nodiscard, gnu::visibility("default")]] task<result<io::descriptor>> connect(
    std::string_view host, std::uint16_t port, connect_options options = connect_options());

/// The same with addresses that are known: the first of them first, then alternating between the
/// versions of IP, each in the order given. Errors: invalid_argument if there are none, or one is
/// of a Unix socket.
[[nodiscard, gnu::visibility("default")]] task<result<io::descriptor>> connect_to_any(
    std::vector<socket_address> addresses, connect_options options = connect_options());

}  // namespace skua::inline SKUA_ABI::net
