// tools/skua/target.hpp: an address as it is written on the command line.
#pragma once

#include <skua/coro/task.hpp>
#include <skua/net/socket_address.hpp>

#include <string>

namespace skua_tool {

/// `127.0.0.1:7000`, `[::1]:7000` or `name:7000`. Of a host's addresses the one is taken that
/// answers first, which takes a connection. Throws a failure.
skua::task<skua::net::socket_address> find_target(std::string text);

}  // namespace skua_tool
