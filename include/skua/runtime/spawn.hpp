// skua/runtime/spawn.hpp: starts a task that runs beside the one that starts it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/runtime/call.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/spawnable.hpp"
#include "skua/runtime/spawned_task.hpp"

#include <source_location>
#include <utility>

namespace skua::inline SKUA_ABI {

/// The runtime that the calling code runs in: on a worker, or in a blocking call of one of its
/// tasks. Elsewhere these throw std::logic_error; use a runtime::handle there.
struct [[gnu::visibility("default")]] spawn_here {
  static task_cell* as_child(const spawn_request& what);
  static task_cell* as_child_if_room(const spawn_request& what);  // null: no room
  static task_cell* in_background(const spawn_request& what);
  static task_cell* on_this_worker(const spawn_request& what);
};

/// Starts `what`: a task, an awaitable (moved into a task), or a callable without arguments, whose
/// result is awaited if it can be. It is queued now and runs on any worker; on a thread_per_core
/// runtime on the one that the dispatcher chooses: by default that of the task that spawns it. It
/// belongs to the same block_on() as that task: that returns only when this has ended, too. Use
/// named("a name", what) to name it.
///
/// Throws std::logic_error outside a runtime, std::bad_alloc; then nothing was started.
template <typename Spawnable>
auto spawn(Spawnable&& what, std::source_location where = std::source_location::current()) {
  using T = spawned_t<Spawnable>;
  return join_handle<T>(
      *order_for(std::forward<Spawnable>(what), where).hand_to(spawn_here::as_child));
}

/// `spawn(fn, args...)`: callable and arguments are moved into the task: nothing can dangle.
/// One overload per number of arguments, since a defaulted location cannot follow a pack.
template <typename Callable, typename A>
auto spawn(Callable&& fn, A&& a, std::source_location where = std::source_location::current()) {
  return spawn(call(std::forward<Callable>(fn), std::forward<A>(a)), where);
}
/// The same with two arguments.
template <typename Callable, typename A, typename B>
auto spawn(Callable&& fn, A&& a, B&& b,
           std::source_location where = std::source_location::current()) {
  return spawn(call(std::forward<Callable>(fn), std::forward<A>(a), std::forward<B>(b)), where);
}
/// The same with three arguments.
template <typename Callable, typename A, typename B, typename C>
auto spawn(Callable&& fn, A&& a, B&& b, C&& c,
           std::source_location where = std::source_location::current()) {
  return spawn(
      call(std::forward<Callable>(fn), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c)),
      where);
}
/// The same with four arguments.
template <typename Callable, typename A, typename B, typename C, typename D>
auto spawn(Callable&& fn, A&& a, B&& b, C&& c, D&& d,
           std::source_location where = std::source_location::current()) {
  return spawn(call(std::forward<Callable>(fn), std::forward<A>(a), std::forward<B>(b),
                    std::forward<C>(c), std::forward<D>(d)),
               where);
}
/// The same with five arguments.
template <typename Callable, typename A, typename B, typename C, typename D, typename E>
auto spawn(Callable&& fn, A&& a, B&& b, C&& c, D&& d, E&& e,
           std::source_location where = std::source_location::current()) {
  return spawn(call(std::forward<Callable>(fn), std::forward<A>(a), std::forward<B>(b),
                    std::forward<C>(c), std::forward<D>(d), std::forward<E>(e)),
               where);
}
/// More arguments than that: the location is then that of this line.
template <typename Callable, typename A, typename B, typename C, typename D, typename E, typename F,
          typename... More>
auto spawn(Callable&& fn, A&& a, B&& b, C&& c, D&& d, E&& e, F&& f, More&&... more) {
  return spawn(
      call(std::forward<Callable>(fn), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c),
           std::forward<D>(d), std::forward<E>(e), std::forward<F>(f), std::forward<More>(more)...),
      std::source_location::current());
}

/// Like spawn(), but ties the task to the runtime, not to the block_on() it was spawned in.
template <typename Spawnable>
auto spawn_background(Spawnable&& what,
                      std::source_location where = std::source_location::current()) {
  using T = spawned_t<Spawnable>;
  return join_handle<T>(
      *order_for(std::forward<Spawnable>(what), where).hand_to(spawn_here::in_background));
}

/// Like spawn(), but refuses (limit_exceeded) while config::spawn_queue_limit tasks wait in the
/// shared queue. `what` is destroyed then.
template <typename Spawnable>
[[nodiscard]] auto try_spawn(Spawnable&& what,
                             std::source_location where = std::source_location::current())
    -> result<join_handle<spawned_t<Spawnable>>> {
  task_cell* const cell =
      order_for(std::forward<Spawnable>(what), where).hand_to(spawn_here::as_child_if_room);
  if (cell == nullptr) return fail(errc::limit_exceeded);
  return join_handle<spawned_t<Spawnable>>(*cell);
}

/// Like spawn(), but the task stays on the worker it was spawned on, and on that worker's thread:
/// for things that are not thread-safe, or belong to a thread. Only on a worker; not inside
/// block_in_place().
template <typename Spawnable>
auto spawn_local(Spawnable&& what, std::source_location where = std::source_location::current()) {
  using T = spawned_t<Spawnable>;
  return join_handle<T>(
      *order_for(std::forward<Spawnable>(what), where).hand_to(spawn_here::on_this_worker));
}

}  // namespace skua::inline SKUA_ABI
