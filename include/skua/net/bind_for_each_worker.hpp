// skua/net/bind_for_each_worker.hpp: a listener for each worker, all on one port.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/net/listen_options.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/net/tcp_listener.hpp"

#include <string_view>
#include <vector>

namespace skua::inline SKUA_ABI::net {

/// As many listeners on the same address as the runtime of the calling code has workers. The kernel
/// spreads connections over them by a hash of both ends' addresses (SO_REUSEPORT, which is set
/// whatever `how` says), so that each worker of a thread_per_core runtime accepts its own, and a
/// connection is served where it came in, with no word to another worker:
///
///   auto listeners = or_throw(net::bind_for_each_worker("[::]:7000"));
///   const auto serve_mine = [&]() -> task<> {
///     or_throw(co_await serve(listeners[*this_worker()], echo, serve_options(), over.wait()));
///   };
///   co_await on_each_worker(serve_mine);
///
/// All are bound before the first connection can come, and listener i need not be worker i's. What
/// waits in the queue of one that is closed is reset, though others are open. Port 0: the kernel
/// chooses one, for all. Does not suspend. Errors: those of tcp_listener::bind(); address_in_use
/// also if another user has the port. Throws std::logic_error outside a runtime.
[[nodiscard, gnu::visibility("default")]] result<std::vector<tcp_listener>> bind_for_each_worker(
    const socket_address& at, listen_options how = listen_options());
/// The same at an address as text, as tcp_listener::bind() takes it.
[[nodiscard, gnu::visibility("default")]] result<std::vector<tcp_listener>> bind_for_each_worker(
    std::string_view at, listen_options how = listen_options());

}  // namespace skua::inline SKUA_ABI::net
