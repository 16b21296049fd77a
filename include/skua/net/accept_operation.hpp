// skua/net/accept_operation.hpp: waits for the next connection of a listener.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"

namespace skua::inline SKUA_ABI::net {

[[nodiscard, gnu::visibility("default")]] op_request accept_request(
    const io::descriptor& on) noexcept;

/// co_await it for a result<Stream>. Stopped: a connection that came at that moment is given to the
/// task, or stays with the listener; none is lost. Allocates nothing.
template <typename Stream>
class accept_operation final : public io_wait {
public:
  /// Use tcp_listener::accept() or unix_listener::accept().
  explicit accept_operation(const io::descriptor& on) noexcept : io_wait(accept_request(on), &on) {}
  /// A connection that nobody took is closed.
  ~accept_operation() { unique_fd(not_taken()).reset(); }

  result<Stream> await_resume() {
    const std::int32_t got = take();
    if (got < 0) return failure(got);
    return Stream(unique_fd(got));
  }
};

}  // namespace skua::inline SKUA_ABI::net
