// skua/net/tcp_stream.hpp: a TCP connection.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/net/accept_operation.hpp"
#include "skua/net/connect_options.hpp"
#include "skua/net/keepalive.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/net/stream_socket.hpp"
#include "skua/time/time_span.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI::net {

class resolver;

/// See stream_socket for reading, writing and all else that it shares with Unix streams.
///
///   auto peer = co_await or_return(co_await tcp_stream::connect(address));
///   co_await or_return(co_await peer.write_all(request));
class [[gnu::visibility("default")]] tcp_stream : public stream_socket {
public:
  /// Connects to an address. Suspends until the other side answers or the kernel gives up, which
  /// takes minutes: set a timeout. Stopped: there is no connection. Errors: connection_refused,
  /// network_unreachable, host_unreachable, timed_out, address_not_available (no port is free),
  /// address_family_not_supported (no address of TCP), too_many_files_open.
  [[nodiscard]] static task<result<tcp_stream>> connect(socket_address to);
  /// The same from an address of ours; port 0 lets the kernel choose. Errors, besides:
  /// address_in_use, address_not_available, permission_denied.
  [[nodiscard]] static task<result<tcp_stream>> connect_from(socket_address from,
                                                             socket_address to);

  /// Connects to a host by its name: net::connect(), with a resolver, or with one that is made for
  /// this connection. `host` is copied, the resolver borrowed.
  [[nodiscard]] static task<result<tcp_stream>> connect(
      resolver& names, std::string_view host, std::uint16_t port,
      connect_options options = connect_options());
  /// The same with a resolver that is made for this connection.
  [[nodiscard]] static task<result<tcp_stream>> connect(
      std::string_view host, std::uint16_t port, connect_options options = connect_options());

  /// Of a connection that is known to be one of TCP, as net::connect_to_any() gives it.
  explicit tcp_stream(io::descriptor connected) noexcept : stream_socket(std::move(connected)) {}
  /// Takes a connected TCP socket in, of whom one knows less. It is made blocking and closed on
  /// exec. Errors: not_a_socket, address_family_not_supported, wrong_protocol_type; then it is
  /// closed.
  [[nodiscard]] static result<tcp_stream> from_descriptor(unique_fd fd) noexcept;

  // None of the following suspends; their errors are those of the system calls.

  /// Small writes are sent at once, not gathered while bytes under way are not acknowledged.
  result<void> set_nodelay(bool on) noexcept;
  /// Whether it is on.
  [[nodiscard]] result<bool> nodelay() const noexcept;

  /// See keepalive. Off at first.
  result<void> set_keepalive(const keepalive& how) noexcept;
  /// On as the system has it, or off.
  result<void> set_keepalive(bool on) noexcept;
  /// Whether it is on.
  [[nodiscard]] result<bool> is_kept_alive() const noexcept;

  /// What closing does with bytes that were written and not acknowledged. Nothing: it returns, and
  /// the kernel goes on sending, as at first. 0: they are thrown away, and the other side gets
  /// connection_reset. More: closing waits as long for them; only co_await close() does so without
  /// blocking the thread. Whole seconds, rounded up.
  result<void> set_linger(std::optional<time_span> how_long) noexcept;
  /// What was set; nothing if closing does not wait.
  [[nodiscard]] result<std::optional<time_span>> linger() const noexcept;

  /// How many routers may pass our packets on, 1 to 255.
  result<void> set_ttl(int hops) noexcept;
  /// As the kernel has it now.
  [[nodiscard]] result<int> ttl() const noexcept;

private:
  friend class accept_operation<tcp_stream>;
  explicit tcp_stream(unique_fd fd) noexcept : stream_socket(std::move(fd)) {}
};

}  // namespace skua::inline SKUA_ABI::net
