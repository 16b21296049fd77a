// bench/peers/asio/start_task.hpp: starts a coroutine that any thread may run.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>

#include <utility>

/// Through the queue, as other runtimes spawn: co_spawn() alone would begin with it in place, and
/// nobody else could.
template <typename T, typename Handler>
void start_task(const asio::any_io_executor& on, asio::awaitable<T> what, Handler ended) {
  asio::post(on, [on, what = std::move(what), ended = std::move(ended)]() mutable {
    asio::co_spawn(on, std::move(what), std::move(ended));
  });
}
