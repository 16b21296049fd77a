// skua/net/accept_patiently.hpp: the next connection, through shortages and failed ones.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/net/accept_patience.hpp"
#include "skua/time/sleep.hpp"

namespace skua::inline SKUA_ABI::net {

/// `co_await accept_patiently(listener, patience)` in a loop of one's own: gives a result<Stream>,
/// and an error only if the listener itself is broken. While descriptors or memory are short it
/// pauses, and then waits for a connection before it tries again: it never spins, and costs nothing
/// while nobody connects. Listener and patience are borrowed. Stopped: no connection is lost.
template <typename Listener>
[[nodiscard]] task<result<typename Listener::stream_type>> accept_patiently(
    Listener& from, accept_patience& patience) {
  for (;;) {
    result<typename Listener::stream_type> got = co_await from.accept();
    if (got.has_value()) {
      patience.succeeded();
      co_return got;
    }
    const accept_patience::advice next = patience.after(got.error());
    if (next == accept_patience::advice::give_up) co_return got;
    if (next == accept_patience::advice::again) continue;
    co_await sleep(patience.pause());
    if constexpr (requires { from.readable(); }) co_await from.readable();
  }
}

}  // namespace skua::inline SKUA_ABI::net
