// skua/net/serve.hpp: accepts connections and runs a handler for each, until told to end.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/in_place_task.hpp"
#include "skua/coro/task.hpp"
#include "skua/net/serve_counters.hpp"
#include "skua/net/serve_options.hpp"
#include "skua/net/serving.hpp"

#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Runs a server:
///
///   co_await serve(listener, echo, serve_options().max_connections(10'000), shutdown_signal());
///
/// `listener` is a tcp_listener, a unix_listener, or anything with a `stream_type` and an accept()
/// that gives, when awaited, a result of it. Passed by name it is borrowed, and stays open; passed
/// with std::move() it is closed as soon as the end is asked for, so that newcomers are refused
/// instead of waiting in its queue.
///
/// `handler(stream)` is a coroutine that owns the connection. Each runs as a task of its own, on
/// any worker; it may borrow what outlives the co_await. It may take a cancel_token besides,
/// `handler(stream, closing)`, which is cancelled when the end is asked for: a handler that waits
/// for the next request of a quiet client can end then. Its error, if it gives a result, is counted
/// and logged at debug level; an exception is counted and logged, one in a second, and ends nothing
/// but its connection.
///
/// `until` is anything that can be awaited: when it ends, nobody is accepted any more, the
/// handlers get options.drain_time() to end, and those that are left are stopped, and awaited. A
/// connection that was accepted at the last moment gets its handler, too.
///
/// Gives a result<serve_report> then, as a task, or an in_place_task if `until` is a leaf or has a
/// name; an error if the listener is broken, or if `until` gives a result that is one (then nobody
/// has asked for the end: a shutdown_signal() without descriptors, say), after the same end.
/// Shortages of descriptors and memory are waited out: see net::accept_patience. What `until`
/// throws stops the handlers at once and is thrown on. Stopping the task stops the handlers without
/// a drain; no handler outlives serve(), whatever happens.
template <typename Listener, typename Handler, typename Until>
[[nodiscard]] auto serve(Listener&& listener, Handler&& handler, const serve_options& how,
                         Until&& until) {
  static_assert(callable_survives<Handler>,
                "g++ would copy this temporary's captures bitwise: give the handler a name");
  using held = held_listener<Listener>;
  using all = serving<held, std::decay_t<Handler>>;
  return made_of<Until>(serve_all<all>(held(std::forward<Listener>(listener)),
                                       std::forward<Handler>(handler), how,
                                       await_end_of(await_in_task(std::forward<Until>(until)))));
}

/// The same until it is stopped or the listener breaks.
template <typename Listener, typename Handler>
[[nodiscard]] task<result<serve_report>> serve(Listener&& listener, Handler&& handler,
                                               const serve_options& how = serve_options()) {
  static_assert(callable_survives<Handler>,
                "g++ would copy this temporary's captures bitwise: give the handler a name");
  using held = held_listener<Listener>;
  using all = serving<held, std::decay_t<Handler>>;
  return serve_all<all>(held(std::forward<Listener>(listener)), std::forward<Handler>(handler), how,
                        wait_for_ever());
}

}  // namespace skua::inline SKUA_ABI
