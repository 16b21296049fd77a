// skua/net/vectored_operation.hpp: bytes of several buffers, sent or received at once.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <span>

namespace skua::inline SKUA_ABI::net {

/// What readv() and writev() of a socket give: co_await it for a result<std::size_t>, the bytes
/// moved. The list of buffers and the buffers are borrowed until it has ended; of a list of more
/// than 1,024 the first so many count. A stop and a timeout are as with any io_wait.
class [[gnu::visibility("default")]] vectored_operation final : public io_wait {
public:
  /// Whether the buffers are rooms to fill or bytes to send.
  enum class direction : bool {
    receive,  ///< rooms to fill
    send      ///< bytes to send
  };
  /// Use stream_socket::readv() or writev().
  vectored_operation(const io::descriptor& on, std::span<const iovec> buffers,
                     direction which) noexcept;

  result<std::size_t> await_resume() {
    const std::int32_t got = take();
    if (got < 0) return failure(got);
    return static_cast<std::size_t>(got);
  }

private:
  msghdr message_{};
};

}  // namespace skua::inline SKUA_ABI::net
