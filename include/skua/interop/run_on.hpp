// skua/interop/run_on.hpp: awaits a task that runs on another runtime.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/as_outcome.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/runtime.hpp"
#include "skua/runtime/spawnable.hpp"

#include <source_location>
#include <utility>

namespace skua::inline SKUA_ABI {

template <typename T>
task<T> run_task_on(runtime_handle where, task<T> what, std::source_location from) {
  join_handle<T> there = where.spawn(std::move(what), from);
  const outcome<void> waited = co_await as_outcome(there.wait());
  if (waited.stopped()) there.abort();
  outcome<T> end = co_await shielded(there.outcome());
  if (end.stopped()) co_await yield();  // which unwinds, if it was us who were stopped
  co_return std::move(end).value();
}

/// `co_await run_on(other, query(text))`: the task (or what else spawn() takes) runs on a worker of
/// `other`, all of it; the one that awaits stays where it is, and gets the value or the exception.
/// It may borrow: this ends when the task over there has.
///
/// Stopped: so is the task over there, and awaited; if that ends with a value all the same, the
/// value counts. If the other runtime was shut down: throws task_cancelled.
///
/// There is no way to move the rest of a running task: whose shutdown it would hear, and whose
/// block_on() would wait for it, could not be told from the code.
template <typename Spawnable>
[[nodiscard]] auto run_on(const runtime_handle& where, Spawnable&& what,
                          std::source_location from = std::source_location::current()) {
  static_assert(spawnable_survives<Spawnable>,
                "g++ would copy this temporary's captures bitwise: use call(fn, args...), or give "
                "the callable a name");
  return run_task_on(where, to_task(std::forward<Spawnable>(what)), from);
}

}  // namespace skua::inline SKUA_ABI
