// skua/interop/from_future.hpp: awaits a std::future, by way of the blocking pool.
// Not in skua.hpp: <future> is heavy.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/stop_token.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/spawn_blocking.hpp"

#include <future>
#include <stop_token>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Blocks until `*awaited` is ready, or for some 20 ms after a stop: then false.
template <typename Future>
bool wait_for_future(Future* awaited, const std::stop_token& stop) {
  for (;;) {
    switch (awaited->wait_for(std::chrono::milliseconds(20))) {
      case std::future_status::ready:
        return true;
      case std::future_status::deferred:
        awaited->wait();  // which runs it, here
        return true;
      case std::future_status::timeout:
        break;
    }
    if (stop.stop_requested()) return false;
  }
}

template <typename T, typename Future>
task<T> await_future_in_place(Future& awaited) {
  const std::stop_token stop = co_await current_stop_token();
  for (;;) {
    const bool ready = co_await spawn_blocking(wait_for_future<Future>, &awaited, stop);
    if (ready) co_return awaited.get();
    co_await yield();  // which unwinds
  }
}
template <typename T, typename Future>
task<T> await_owned_future(Future awaited) {
  co_return co_await await_future_in_place<T>(awaited);
}

/// `T value = co_await from_future(std::move(f))` gives the value, or throws what the future holds.
/// It tells nobody when it is ready, so a thread of the blocking pool waits in it: as many at once
/// as that has threads, at some 30 µs each. Where the maker can be changed, oneshot::channel() or
/// from_callback() is better. A deferred one (std::launch::deferred) runs on the pool's thread.
///
/// Stopped: gives up within some 20 ms; what the future will hold is lost. But the last future of a
/// std::async() waits in its destructor, and holds up the worker then: use spawn_blocking()
/// instead, or keep the future and pass it by name. Throws std::future_error if it has no state.
template <typename T>
[[nodiscard]] task<T> from_future(std::future<T>&& awaited) {
  return await_owned_future<T>(std::move(awaited));
}
/// Borrows the future: it stays as it is if the task is stopped, and can be awaited again.
template <typename T>
[[nodiscard]] task<T> from_future(std::future<T>& awaited) {
  return await_future_in_place<T>(awaited);
}
/// Gives a copy of what it holds.
template <typename T>
[[nodiscard]] task<T> from_future(std::shared_future<T> awaited) {
  return await_owned_future<T>(std::move(awaited));
}

}  // namespace skua::inline SKUA_ABI
