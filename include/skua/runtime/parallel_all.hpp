// skua/runtime/parallel_all.hpp: several things at once, on all workers, until all have ended.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/unit.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/parallel_group.hpp"

#include <array>
#include <deque>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {

/// `auto [left, right] = co_await parallel_all(sum(low), sum(high));` Like when_all(), but they run
/// on several workers at the same time, and what they share needs locks. They may borrow from the
/// task, which goes on when all have ended. Costs much less than spawning and joining them: their
/// state lies in this frame. Gives all values, in the order of the arguments; `unit` for what gives
/// none.
///
/// If one throws, the others are stopped, and when all have ended the exception is rethrown. A stop
/// of the task stops them all; it then unwinds, unless they had all ended with values by then. In a
/// task of spawn_local(), or of a thread_per_core runtime, they stay on its worker. The registry
/// shows their task, not them. Await it in the same expression if an argument is a leaf or has a
/// name: those are borrowed.
template <typename... Awaitables>
  requires(sizeof...(Awaitables) > 0)
[[nodiscard]] auto parallel_all(Awaitables&&... awaited) {
  return made_of<Awaitables...>(
      await_parallel(await_in_task(std::forward<Awaitables>(awaited))...));
}

/// The same for any number of tasks: gives a vector of their values, or nothing if they give none.
template <typename T>
[[nodiscard]] auto parallel_all(std::vector<task<T>> tasks) {
  return await_parallel_all_of(std::move(tasks));
}

// --- how

template <typename... Ts>
task<std::tuple<value_or_unit<Ts>...>> await_parallel(task<Ts>... tasks) {
  parallel_group all(co_await current_context());
  std::tuple<parallel_chain_of<Ts>...> chains(parallel_seed<Ts>{all, tasks}...);
  const auto each = std::apply(
      [](auto&... one) { return std::array<parallel_chain*, sizeof...(Ts)>{&one...}; }, chains);
  co_await all.run(each);
  if (all.is_stopped()) co_await yield();  // which unwinds
  all.rethrow();
  co_return std::apply(
      [](auto&... one) { return std::tuple<value_or_unit<Ts>...>(take_value(one.take())...); },
      chains);
}

template <typename T>
task<std::conditional_t<std::is_void_v<T>, void, std::vector<value_or_unit<T>>>>
await_parallel_all_of(std::vector<task<T>> tasks) {
  parallel_group all(co_await current_context());
  std::deque<parallel_chain_of<T>> chains;
  std::vector<parallel_chain*> each;
  each.reserve(tasks.size());
  for (task<T>& one : tasks) each.push_back(&chains.emplace_back(parallel_seed<T>{all, one}));
  co_await all.run(each);
  if (all.is_stopped()) co_await yield();  // which unwinds
  all.rethrow();
  if constexpr (!std::is_void_v<T>) {
    std::vector<T> values;
    values.reserve(chains.size());
    for (auto& one : chains) values.push_back(take_value(one.take()));
    co_return values;
  }
}

}  // namespace skua::inline SKUA_ABI
