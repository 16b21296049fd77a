// skua/net/unix_listener.hpp: accepts connections within the machine.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"
#include "skua/net/accept_operation.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/net/unix_listen_options.hpp"
#include "skua/net/unix_path_guard.hpp"
#include "skua/net/unix_stream.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI::net {

/// As a tcp_listener. A file that bind() has made is removed when the listener is closed or
/// dropped, if it is still the same file: one that somebody else has put in its place stays. After
/// release() the file is the caller's business, too.
class [[gnu::visibility("default")]] unix_listener {
public:
  /// What accept() gives, for templates.
  using stream_type = unix_stream;

  /// Makes a socket at a path, or under an abstract name, which is in no file system. Does not
  /// suspend. Errors: address_in_use (the path exists, whatever it is; see
  /// unix_listen_options::replace_stale()), no_such_file_or_directory, permission_denied,
  /// not_a_directory, address_family_not_supported (no Unix address), too_many_files_open.
  [[nodiscard]] static result<unix_listener> bind(
      const socket_address& at, const unix_listen_options& how = unix_listen_options());
  /// A path, or `unix:/path`, or `unix:@name`.
  [[nodiscard]] static result<unix_listener> bind(
      std::string_view at, const unix_listen_options& how = unix_listen_options());

  /// Takes a socket in that listens; its file is not removed. See tcp_listener::from_descriptor().
  [[nodiscard]] static result<unix_listener> from_descriptor(unique_fd fd) noexcept;

  /// See tcp_listener::accept().
  [[nodiscard]] accept_operation<unix_stream> accept() noexcept {
    return accept_operation<unix_stream>(fd_);
  }
  /// Waits until accept() would find a connection, and takes none.
  [[nodiscard]] io_operation<std::uint32_t> readable() noexcept;

  /// Does not suspend.
  [[nodiscard]] result<socket_address> local_address() const noexcept;

  /// Removes the file, and closes without blocking the thread.
  [[nodiscard]] io_operation<void> close() noexcept {
    file_.remove();
    return fd_.close();
  }
  /// The number, for options that are not here; -1 if there is none. It stays ours.
  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  /// Gives the descriptor away, and the file; this object is empty then.
  [[nodiscard]] unique_fd release() noexcept {
    file_.forget();
    return fd_.release();
  }

private:
  unix_listener(unique_fd fd, unix_path_guard file) noexcept
      : fd_(std::move(fd)), file_(std::move(file)) {}

  io::descriptor fd_;
  unix_path_guard file_;  // goes first: nobody finds a socket that is closed
};

}  // namespace skua::inline SKUA_ABI::net
