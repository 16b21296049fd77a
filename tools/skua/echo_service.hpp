// tools/skua/echo_service.hpp: what an echo server does with a connection.
#pragma once

#include <skua/base/result.hpp>
#include <skua/coro/task.hpp>
#include <skua/net/socket_address.hpp>
#include <skua/net/tcp_listener.hpp>
#include <skua/net/tcp_stream.hpp>
#include <skua/time/time_span.hpp>

#include <string>

namespace skua_tool {

/// A handler for skua::serve(): sends back what comes, until the other side ends, or neither sends
/// nor takes anything for `idle`.
struct echo_service {
  skua::time_span idle;

  [[nodiscard]] skua::task<skua::result<void>> operator()(skua::net::tcp_stream peer) const;
};

/// Throws a failure that names the address.
[[nodiscard]] skua::net::tcp_listener listen_at(const std::string& address);

}  // namespace skua_tool
