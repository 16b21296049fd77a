// skua/io/socket.hpp: the system calls of sockets, awaited.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/fd_ref.hpp"
#include "skua/io/io_operation.hpp"

#include <cstddef>
#include <span>

struct msghdr;
struct sockaddr;

/// See skua/io/stream.hpp for what all operations have in common.
namespace skua::inline SKUA_ABI::io {

/// Receives what has come, up to as much as there is room for; 0 when the other side has ended.
/// Stopped: nothing was received. `flags`: MSG_*.
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> recv(fd_ref fd,
                                                                         std::span<std::byte> into,
                                                                         int flags = 0) noexcept;
/// The same into several rooms, with the sender's address and control messages: see recvmsg(2). All
/// that `message` points to is borrowed.
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> recvmsg(fd_ref fd,
                                                                            msghdr& message,
                                                                            int flags = 0) noexcept;

/// Sends some of the bytes and says how many; never raises SIGPIPE. Stopped: nothing was sent,
/// unless MSG_WAITALL asked the kernel to send on.
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> send(
    fd_ref fd, std::span<const std::byte> from, int flags = 0) noexcept;
/// The same from several pieces, with an address and control messages: see sendmsg(2).
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> sendmsg(fd_ref fd,
                                                                            const msghdr& message,
                                                                            int flags = 0) noexcept;

/// The same without a copy, where the kernel can; pays from some 10 KiB on. Ends when the kernel
/// needs the bytes no more, which may be when the other side has acknowledged them.
[[nodiscard, gnu::visibility("default")]] io_operation<std::size_t> send_zero_copy(
    fd_ref fd, std::span<const std::byte> from, int flags = 0) noexcept;

/// Takes the next connection, with O_CLOEXEC. `from`, if given, gets the address of the other side,
/// and `*length`, the room there, its length. A connection that comes as the task is stopped stays
/// with the listener, or is given to the task.
/// On epoll, the listener is made non-blocking.
[[nodiscard, gnu::visibility("default")]] io_operation<unique_fd> accept(
    fd_ref fd, sockaddr* from = nullptr, unsigned* length = nullptr) noexcept;

/// Connects. Stopped, the socket is in between, and good for nothing but to be closed.
/// On epoll, it is made non-blocking.
[[nodiscard, gnu::visibility("default")]] io_operation<void> connect(fd_ref fd, const sockaddr* to,
                                                                     unsigned length) noexcept;

/// Ends one direction, or both. `how`: SHUT_*. Ends what waits to receive or send there.
[[nodiscard, gnu::visibility("default")]] io_operation<void> shutdown(fd_ref fd, int how) noexcept;

}  // namespace skua::inline SKUA_ABI::io
