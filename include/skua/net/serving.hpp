// skua/net/serving.hpp: how serve() serves: one task accepts, one for each connection handles it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/race.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/task_cancelled.hpp"
#include "skua/net/accept_patiently.hpp"
#include "skua/net/serve_counters.hpp"
#include "skua/net/serve_options.hpp"
#include "skua/net/serve_state.hpp"
#include "skua/runtime/call.hpp"
#include "skua/runtime/with_scope.hpp"
#include "skua/sync/cancel_token.hpp"
#include "skua/sync/event.hpp"
#include "skua/sync/semaphore.hpp"
#include "skua/time/sleep.hpp"
#include "skua/time/time_span.hpp"
#include "skua/time/timeout.hpp"

#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

// All of this is for serve().
namespace skua::inline SKUA_ABI {

/// Borrowed if it has a name, otherwise owned until let_go().
template <typename Listener>
class held_listener {
public:
  using listener_type = Listener;
  using stream_type = typename Listener::stream_type;
  explicit held_listener(Listener&& from) : own_(std::move(from)) {}
  [[nodiscard]] Listener& get() noexcept { return *own_; }
  void let_go() noexcept { own_.reset(); }

private:
  std::optional<Listener> own_;
};
template <typename Listener>
class held_listener<Listener&> {
public:
  using listener_type = Listener;
  using stream_type = typename Listener::stream_type;
  explicit held_listener(Listener& from) noexcept : from_(from) {}
  [[nodiscard]] Listener& get() noexcept { return from_; }
  void let_go() noexcept {}

private:
  Listener& from_;
};

inline task<std::error_code> wait_for_ever() {
  event never;
  co_await never.wait();
  co_return std::error_code();
}
/// Gives its error, if it gives a result that is one.
template <typename T>
task<std::error_code> await_end_of(task<T> what) {
  std::error_code why;
  if constexpr (is_result<T>) {
    const T end = co_await std::move(what);
    if (!end.has_value()) why = end.error();
  } else {
    co_await std::move(what);
  }
  co_return why;
}

/// What the tasks of one server share.
template <typename Held, typename Handler>
struct serving {
  using stream_type = typename Held::stream_type;
  using handler_type = Handler;
  using held_type = Held;
  static constexpr bool takes_token =
      callable_with<Handler&, typename Held::stream_type, cancel_token>;

  serving(Held listener, Handler fn, const serve_options& how, task<std::error_code> end)
      : from(std::move(listener)), handler(std::move(fn)), state(how), until(std::move(end)) {
    static_assert(takes_token || callable_with<Handler&, stream_type>,
                  "the handler is called with a stream, or with a stream and a cancel_token");
  }

  auto handle(stream_type stream) {
    if constexpr (takes_token)
      return handler(std::move(stream), state.closing());
    else
      return handler(std::move(stream));
  }

  Held from;
  Handler handler;
  serve_state state;
  task<std::error_code> until;
};

/// What the task of one connection owns. In this order: its place is free when all else is gone.
template <typename Stream>
struct served_connection {
  served_connection(semaphore::permit place, serve_state& of, Stream peer) noexcept
      : slot(std::move(place)), ticket(of), stream(std::move(peer)) {}
  semaphore::permit slot;
  serve_state::ticket ticket;
  Stream stream;
};

template <typename T>
void note_end(serve_state::ticket& of, const T& how) noexcept {
  if constexpr (is_result<T>) {
    if (!how.has_value()) return of.failed(how.error());
  }
  of.succeeded();
}

template <typename All>
task<> serve_one(served_connection<typename All::stream_type> one, All& all) {
  using given = await_result_t<decltype(all.handle(std::move(one.stream)))>;
  const time_span limit = all.state.options().connection_time();
  try {
    if (limit != time_span::longest()) {
      note_end(one.ticket, co_await timeout(limit, all.handle(std::move(one.stream))));
    } else if constexpr (std::is_void_v<given>) {
      co_await all.handle(std::move(one.stream));
      one.ticket.succeeded();
    } else {
      note_end(one.ticket, co_await all.handle(std::move(one.stream)));
    }
  } catch (const task_cancelled&) {
    // It awaited what was stopped, as it is to be itself.
  } catch (...) {
    one.ticket.threw(std::current_exception());
  }
}

/// Gives the error that broke the listener. Where there is no memory for the frame of a coroutine,
/// a connection that was accepted is closed, and the next has to wait a while: a pause needs none.
template <typename All>
task<std::error_code> accept_all(scope& children, All& all) {
  serve_state& state = all.state;
  for (;;) {
    bool no_memory = false;
    result<semaphore::permit> slot = co_await state.slots().acquire();
    try {
      auto peer = co_await net::accept_patiently(all.from.get(), state.patience());
      if (!peer.has_value()) co_return peer.error();
      served_connection one(std::move(*slot), state, std::move(*peer));
      children.spawn(serve_one(std::move(one), all));
    } catch (const std::bad_alloc&) {
      no_memory = true;
    }
    if (no_memory) co_await sleep(state.pause_without_memory());
  }
}

/// Gives the error that broke the listener, or that the wait for the end has come to; or none.
template <typename All>
task<std::error_code> serve_in_scope(scope& children, All* all) {
  serve_state& state = all->state;
  auto first = co_await select(accept_all(children, *all), std::move(all->until));
  std::error_code why;
  if (const auto* broken = first.template get<0>()) why = *broken;
  if (const auto* asked = first.template get<1>()) why = *asked;
  all->from.let_go();
  state.begin_to_close();
  const auto all_slots = state.options().max_connections();
  const result<semaphore::permit> ended =
      co_await timeout(state.options().drain_time(), state.slots().acquire(all_slots));
  if (!ended.has_value()) {
    state.drain_has_failed();
    children.stop();
  }
  co_return why;
}

template <typename All>
task<result<serve_report>> serve_all(typename All::held_type from,
                                     typename All::handler_type handler, serve_options how,
                                     task<std::error_code> until) {
  All all(std::move(from), std::move(handler), how, std::move(until));
  const std::error_code why = co_await with_scope(serve_in_scope<All>, &all);
  if (why) co_return fail(why);
  co_return all.state.report();
}

}  // namespace skua::inline SKUA_ABI
