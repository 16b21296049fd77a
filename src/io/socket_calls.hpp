// src/io/socket_calls.hpp: the system calls of sockets that never wait, with results.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

/// None of these suspends or blocks, and any thread may call them. Errors are those of the system
/// call of the same name.
namespace skua::inline SKUA_ABI::io {

/// In blocking mode, which io_uring needs and epoll changes where it must; with SOCK_CLOEXEC.
[[nodiscard]] result<unique_fd> new_socket(int family, int type, int protocol = 0) noexcept;
[[nodiscard]] result<std::pair<unique_fd, unique_fd>> new_socket_pair(int type) noexcept;

[[nodiscard]] result<void> bind_socket(int fd, const sockaddr* to, unsigned length) noexcept;
[[nodiscard]] result<void> listen_at(int fd, int backlog) noexcept;
/// For sockets that connect without waiting: datagrams, and the test whether somebody listens.
[[nodiscard]] result<void> connect_now(int fd, const sockaddr* to, unsigned length) noexcept;

/// An address as the kernel gives it.
struct raw_address {
  sockaddr_storage bytes;
  socklen_t length;
  [[nodiscard]] const sockaddr* data() const noexcept {
    return reinterpret_cast<const sockaddr*>(&bytes);
  }
};
[[nodiscard]] result<raw_address> local_name(int fd) noexcept;
[[nodiscard]] result<raw_address> peer_name(int fd) noexcept;

[[nodiscard]] result<void> set_option(int fd, int level, int name, const void* value,
                                      std::size_t size) noexcept;
[[nodiscard]] result<void> set_option(int fd, int level, int name, int value) noexcept;
[[nodiscard]] result<void> get_option(int fd, int level, int name, void* value,
                                      std::size_t size) noexcept;
[[nodiscard]] result<int> get_option(int fd, int level, int name) noexcept;

/// Takes O_NONBLOCK away, which descriptors of others may have, and sets FD_CLOEXEC.
[[nodiscard]] result<void> make_usual(int fd) noexcept;
/// It is a socket of this family and type; otherwise not_a_socket, wrong_protocol_type,
/// address_family_not_supported. `family`: AF_UNSPEC for AF_INET or AF_INET6.
[[nodiscard]] result<void> expect_socket(int fd, int family, int type) noexcept;

/// Of a Unix socket that is not bound yet: the mode of the file that it gets, less the umask.
[[nodiscard]] result<void> set_mode(int fd, unsigned mode) noexcept;
/// Which file the path of a Unix socket leads to, the last link not followed.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool is_socket = false;
  friend bool operator==(const file_identity&, const file_identity&) noexcept = default;
};
[[nodiscard]] result<file_identity> identity_of(std::string_view path) noexcept;
[[nodiscard]] result<void> unlink_now(std::string_view path) noexcept;

}  // namespace skua::inline SKUA_ABI::io
