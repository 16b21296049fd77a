// skua/net/udp_socket.hpp: datagrams over UDP.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/net/datagram_socket.hpp"
#include "skua/net/ip_address.hpp"
#include "skua/net/socket_address.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// See datagram_socket for sending, receiving and all else that it shares with Unix datagrams.
///
///   auto socket = or_throw(udp_socket::bind("0.0.0.0:5353"));
///   auto got = co_await or_return(co_await socket.recv_from(buffer));
///   co_await or_return(co_await socket.send_to(answer, got.from()));
///
/// Nothing here suspends; errors are those of the system calls unless it says otherwise.
class [[gnu::visibility("default")]] udp_socket : public datagram_socket {
public:
  /// Takes an address; port 0 lets the kernel choose. An IPv6 one serves IPv4, too. Errors:
  /// address_in_use, address_not_available, permission_denied, address_family_not_supported (no
  /// address of UDP), too_many_files_open; invalid_argument for a text that is no address.
  [[nodiscard]] static result<udp_socket> bind(const socket_address& at);
  /// The same at an address as text, "127.0.0.1:53" or "[::]:53".
  [[nodiscard]] static result<udp_socket> bind(std::string_view at);
  /// The same where others may be bound, too, if all of them say so: for multicast, where each gets
  /// a copy, and for several receivers that share what comes (SO_REUSEADDR, SO_REUSEPORT).
  [[nodiscard]] static result<udp_socket> bind_shared(const socket_address& at);

  /// Takes a UDP socket in. It is made blocking and closed on exec. Errors: not_a_socket,
  /// address_family_not_supported, wrong_protocol_type; then it is closed.
  [[nodiscard]] static result<udp_socket> from_descriptor(unique_fd fd) noexcept;

  /// Datagrams may be sent to a broadcast address. Off at first.
  result<void> set_broadcast(bool on) noexcept;
  /// Whether it is on.
  [[nodiscard]] result<bool> broadcast() const noexcept;

  /// Receives what is sent to a group, at one interface (its number; 0: the system chooses). The
  /// group is of the socket's own version of IP. From then on the socket hears no group that only
  /// others on this machine have joined, which a socket bound to any address otherwise does.
  /// Errors: no_such_device, invalid_argument (no multicast address), address_in_use (joined
  /// before).
  result<void> join(const ip_address& group, std::uint32_t interface = 0) noexcept;
  /// Errors: address_not_available if it was not joined.
  result<void> leave(const ip_address& group, std::uint32_t interface = 0) noexcept;
  /// The interface by which multicast is sent.
  result<void> set_multicast_interface(std::uint32_t interface) noexcept;
  /// What we send to a group comes to members on this machine, too. On at first.
  result<void> set_multicast_loop(bool on) noexcept;
  /// Whether it is on.
  [[nodiscard]] result<bool> multicast_loop() const noexcept;
  /// How many routers may pass multicast on. 1 at first: none.
  result<void> set_multicast_ttl(int hops) noexcept;
  /// As the kernel has it now.
  [[nodiscard]] result<int> multicast_ttl() const noexcept;

  /// How many routers may pass other datagrams on, 1 to 255.
  result<void> set_ttl(int hops) noexcept;
  /// As the kernel has it now.
  [[nodiscard]] result<int> ttl() const noexcept;

private:
  using datagram_socket::datagram_socket;
  [[nodiscard]] result<bool> is_v6() const noexcept;
};

}  // namespace skua::inline SKUA_ABI::net
