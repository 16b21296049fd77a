// skua/coro/when_all.hpp: several things at once, within one task, until all have ended.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/branch_group.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/unit.hpp"
#include "skua/coro/yield.hpp"

#include <deque>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {

/// `auto [user, cart] = co_await when_all(load_user(id), load_cart(id));` for tasks and any other
/// awaitables. They take turns in this task, so what they share needs no locks; for more than one
/// processor, spawn. Gives all values, in the order of the arguments; `unit` for what gives none.
///
/// If one throws, the others are stopped, and when all have ended the exception is rethrown. A stop
/// of the task stops them all; it then unwinds, unless they had all ended with values by then.
/// Await it in the same expression if an argument is a leaf or has a name: those are borrowed.
template <typename... Awaitables>
  requires(sizeof...(Awaitables) > 0)
[[nodiscard]] auto when_all(Awaitables&&... awaited) {
  return made_of<Awaitables...>(await_all(await_in_task(std::forward<Awaitables>(awaited))...));
}

/// The same for any number of tasks: gives a vector of their values, or nothing if they give none.
template <typename T>
[[nodiscard]] auto when_all(std::vector<task<T>> tasks) {
  return await_all_of(std::move(tasks));
}

// --- how

template <typename... Ts>
task<std::tuple<value_or_unit<Ts>...>> await_all(task<Ts>... tasks) {
  branch_group all(co_await current_context(), branch_group::policy::stop_at_failure);
  std::tuple<branch_of<Ts>...> branches(branch_seed<Ts>{all, tasks}...);
  std::apply([&all](auto&... each) { (all.start(each), ...); }, branches);
  while (all.running() > 0) co_await all.step();
  if (all.is_stopped()) co_await yield();  // which unwinds
  all.rethrow();
  co_return std::apply(
      [](auto&... each) { return std::tuple<value_or_unit<Ts>...>(take_value(each.take())...); },
      branches);
}

template <typename T>
task<std::conditional_t<std::is_void_v<T>, void, std::vector<value_or_unit<T>>>> await_all_of(
    std::vector<task<T>> tasks) {
  branch_group all(co_await current_context(), branch_group::policy::stop_at_failure);
  std::deque<branch_of<T>> branches;
  for (task<T>& one : tasks) branches.emplace_back(branch_seed<T>{all, one});
  for (branch_of<T>& one : branches) all.start(one);  // no sooner: there may be no memory for all
  while (all.running() > 0) co_await all.step();
  if (all.is_stopped()) co_await yield();  // which unwinds
  all.rethrow();
  if constexpr (!std::is_void_v<T>) {
    std::vector<T> values;
    values.reserve(branches.size());
    for (branch_of<T>& one : branches) values.push_back(take_value(one.take()));
    co_return values;
  }
}

}  // namespace skua::inline SKUA_ABI
