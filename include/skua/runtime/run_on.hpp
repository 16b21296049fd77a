// skua/runtime/run_on.hpp: calls a function on another worker, or on each, and waits for it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/task.hpp"
#include "skua/runtime/call.hpp"
#include "skua/runtime/scope.hpp"
#include "skua/runtime/this_worker.hpp"
#include "skua/runtime/with_scope.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

template <typename T>
task<T> await_on(std::size_t worker, task<T> what);
template <typename Callable, typename... Args>
task<> await_on_each(Callable fn, Args... args);

/// `auto hits = co_await run_on(shard, count_hits, query)`: runs `fn(args...)` in a task on worker
/// `worker`, awaits what it gives if that can be awaited, and gives the result; rethrows its
/// exception. fn and the arguments are moved there (a reference needs std::ref: it is safe, since
/// this waits). Suspends. If the caller is stopped, so is the call; it goes on when that has ended.
/// Throws std::out_of_range if there is no such worker.
template <typename Callable, typename... Args>
[[nodiscard]] auto run_on(std::size_t worker, Callable&& fn, Args&&... args) {
  return await_on(worker, call(std::forward<Callable>(fn), std::forward<Args>(args)...));
}

/// Runs a copy of `fn(args...)` on each worker, at the same time, and waits for all: to open what
/// every worker has for itself, such as a listener of its own:
///
///   auto serve_here = [&]() -> task<> {
///     auto mine = or_throw(net::tcp_listener::bind(at, net::listen_options().reuse_port(true)));
///     co_await serve(mine, echo, serve_options(), ended.wait());
///   };
///   co_await on_each_worker(serve_here);
///
/// fn gives no value. If one fails the others are stopped, and it is rethrown when all have ended.
/// A stop of the caller stops them. Suspends.
template <typename Callable, typename... Args>
[[nodiscard]] auto on_each_worker(Callable&& fn, Args&&... args) {
  static_assert(callable_with<std::decay_t<Callable>&, std::decay_t<Args>...>,
                "this cannot be called with copies of these arguments");
  static_assert(std::is_void_v<called_t<std::decay_t<Callable>&, std::decay_t<Args>...>>,
                "what runs on each worker gives no value: let it write to what it borrows");
  static_assert(callable_survives<Callable>,
                "g++ would copy this temporary's captures bitwise: pass them as arguments, "
                "(fn, args...), or give the callable a name");
  return await_on_each<std::decay_t<Callable>, std::decay_t<Args>...>(std::forward<Callable>(fn),
                                                                      std::forward<Args>(args)...);
}

// --- how

template <typename T>
task<> store_outcome(task<T> what, outcome<T>& into) {
  if constexpr (std::is_void_v<T>) {
    co_await std::move(what);
    into.set_value();
  } else {
    into.set_value(co_await std::move(what));
  }
}

template <typename T>
task<T> await_on(std::size_t worker, task<T> what) {
  outcome<T> result;
  const auto sends = [](scope& there, std::size_t to, task<> all) -> task<> {
    there.spawn_on(to, std::move(all));
    co_return;
  };
  co_await with_scope(sends, worker, store_outcome<T>(std::move(what), result));
  co_return std::move(result).value();
}

template <typename Callable, typename... Args>
task<> await_on_each(Callable fn, Args... args) {
  const auto spawns = [&](scope& all) -> task<> {
    const std::size_t count = worker_count();
    for (std::size_t i = 0; i < count; ++i)
      all.spawn_on(i, call_owned<Callable, Args...>(fn, args...));
    co_return;
  };
  co_await with_scope(spawns);
}

}  // namespace skua::inline SKUA_ABI
