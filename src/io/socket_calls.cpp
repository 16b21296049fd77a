// src/io/socket_calls.cpp: from errno to results.
#include "io/socket_calls.hpp"

#include "skua/base/check.hpp"
#include "skua/base/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace skua::inline SKUA_ABI::io {
namespace {

result<void> done(int returned) noexcept {
  if (returned < 0) return fail(error_from_errno(errno));
  return {};
}

// With a zero at its end. One that is too long for a socket has come from nowhere.
struct unix_path {
  explicit unix_path(std::string_view path) noexcept {
    check(path.size() < sizeof text, "the path of a Unix socket is short");
    path.copy(text, path.size());
  }
  char text[sizeof(sockaddr_un::sun_path)] = {};
};

using name_call = int (*)(int, sockaddr*, socklen_t*);

result<raw_address> name_by(name_call ask, int fd) noexcept {
  raw_address got{};
  got.length = sizeof got.bytes;
  if (ask(fd, reinterpret_cast<sockaddr*>(&got.bytes), &got.length) < 0)
    return fail(error_from_errno(errno));
  return got;
}

}  // namespace

result<unique_fd> new_socket(int family, int type, int protocol) noexcept {
  unique_fd made(::socket(family, type | SOCK_CLOEXEC, protocol));
  if (!made) return fail(error_from_errno(errno));
  return made;
}

result<std::pair<unique_fd, unique_fd>> new_socket_pair(int type) noexcept {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) < 0)
    return fail(error_from_errno(errno));
  return std::pair(unique_fd(ends[0]), unique_fd(ends[1]));
}

result<void> bind_socket(int fd, const sockaddr* to, unsigned length) noexcept {
  return done(::bind(fd, to, length));
}

result<void> listen_at(int fd, int backlog) noexcept {
  return done(::listen(fd, backlog));
}

result<void> connect_now(int fd, const sockaddr* to, unsigned length) noexcept {
  return done(::connect(fd, to, length));
}

result<raw_address> local_name(int fd) noexcept {
  return name_by([](int of, sockaddr* to, socklen_t* room) { return ::getsockname(of, to, room); },
                 fd);
}

result<raw_address> peer_name(int fd) noexcept {
  return name_by([](int of, sockaddr* to, socklen_t* room) { return ::getpeername(of, to, room); },
                 fd);
}

result<void> set_option(int fd, int level, int name, const void* value, std::size_t size) noexcept {
  return done(::setsockopt(fd, level, name, value, static_cast<socklen_t>(size)));
}

result<void> set_option(int fd, int level, int name, int value) noexcept {
  return set_option(fd, level, name, &value, sizeof value);
}

result<void> get_option(int fd, int level, int name, void* value, std::size_t size) noexcept {
  auto room = static_cast<socklen_t>(size);
  return done(::getsockopt(fd, level, name, value, &room));
}

result<int> get_option(int fd, int level, int name) noexcept {
  int value = 0;
  const result<void> got = get_option(fd, level, name, &value, sizeof value);
  if (!got) return fail(got.error());
  return value;
}

result<void> make_usual(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return fail(error_from_errno(errno));
  if ((flags & O_NONBLOCK) != 0 && ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
    return fail(error_from_errno(errno));
  return done(::fcntl(fd, F_SETFD, FD_CLOEXEC));
}

result<void> expect_socket(int fd, int family, int type) noexcept {
  const result<int> domain = get_option(fd, SOL_SOCKET, SO_DOMAIN);
  if (!domain) return fail(domain.error());
  const bool is_ip = *domain == AF_INET || *domain == AF_INET6;
  if (family == AF_UNSPEC ? !is_ip : *domain != family)
    return fail(std::errc::address_family_not_supported);
  const result<int> kind = get_option(fd, SOL_SOCKET, SO_TYPE);
  if (!kind) return fail(kind.error());
  if (*kind != type) return fail(std::errc::wrong_protocol_type);
  return {};
}

result<void> set_mode(int fd, unsigned mode) noexcept {
  return done(::fchmod(fd, mode));
}

result<file_identity> identity_of(std::string_view path) noexcept {
  struct stat about{};
  if (::lstat(unix_path(path).text, &about) < 0) return fail(error_from_errno(errno));
  return file_identity{about.st_dev, about.st_ino, S_ISSOCK(about.st_mode)};
}

result<void> unlink_now(std::string_view path) noexcept {
  return done(::unlink(unix_path(path).text));
}

}  // namespace skua::inline SKUA_ABI::io
