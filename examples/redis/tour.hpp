// examples/redis/tour.hpp: a client that tries the server.
#pragma once

#include <skua/coro/task.hpp>
#include <skua/net/socket_address.hpp>

namespace redis {

// Says a few things, and shows what comes back; `right` becomes true if it is all as expected.
skua::task<> tour(skua::net::socket_address server, bool& right);

}  // namespace redis
