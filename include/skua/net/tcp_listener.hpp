// skua/net/tcp_listener.hpp: accepts TCP connections.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"
#include "skua/net/accept_operation.hpp"
#include "skua/net/listen_options.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/net/tcp_stream.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// `auto listener = or_throw(tcp_listener::bind("[::]:7000"));`, then skua::serve(), or a loop of
/// accept(). Several tasks may accept at once, in one runtime. It is moved, closed and destroyed
/// only when nobody waits in accept(), which is checked.
class [[gnu::visibility("default")]] tcp_listener {
public:
  /// What accept() gives, for templates.
  using stream_type = tcp_stream;

  /// Opens a port, and connections to it are made from now on. Port 0 lets the kernel choose; see
  /// local_address(). Does not suspend. Errors: address_in_use, address_not_available,
  /// permission_denied (a port below 1024), address_family_not_supported (no address of TCP),
  /// too_many_files_open; invalid_argument for a text that is no address.
  [[nodiscard]] static result<tcp_listener> bind(const socket_address& at,
                                                 const listen_options& how = listen_options());
  /// The same at an address as text, "127.0.0.1:80" or "[::]:80"; invalid_argument if it is none.
  [[nodiscard]] static result<tcp_listener> bind(std::string_view at,
                                                 const listen_options& how = listen_options());

  /// Takes a socket in that listens. It is made blocking (for all who share it) and closed on exec.
  /// Errors: not_a_socket, address_family_not_supported, wrong_protocol_type, invalid_argument (it
  /// does not listen); then it is closed.
  [[nodiscard]] static result<tcp_listener> from_descriptor(unique_fd fd) noexcept;

  /// Takes the next connection; waits for one. Stopped: none is lost. Errors of the connection, not
  /// of the listener, are given as they come (connection_aborted, say), and so are
  /// too_many_files_open, too_many_files_open_in_system and not_enough_memory, after which the
  /// connection stays in the queue: to call again at once would spin. serve() and
  /// accept_patiently() know how to go on after each.
  [[nodiscard]] accept_operation<tcp_stream> accept() noexcept {
    return accept_operation<tcp_stream>(fd_);
  }
  /// Waits until accept() would find a connection, and takes none.
  [[nodiscard]] io_operation<std::uint32_t> readable() noexcept;

  /// Does not suspend.
  [[nodiscard]] result<socket_address> local_address() const noexcept;

  /// Closes without blocking the thread. Connections that nobody accepted are reset.
  [[nodiscard]] io_operation<void> close() noexcept { return fd_.close(); }
  /// The number, for options that are not here; -1 if there is none. It stays ours.
  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  /// Gives the descriptor away; this object is empty then. It may have O_NONBLOCK set.
  [[nodiscard]] unique_fd release() noexcept { return fd_.release(); }

private:
  explicit tcp_listener(unique_fd fd) noexcept : fd_(std::move(fd)) {}

  io::descriptor fd_;
};

}  // namespace skua::inline SKUA_ABI::net
