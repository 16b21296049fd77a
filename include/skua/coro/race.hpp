// skua/coro/race.hpp: several things at once, within one task, until the first has ended.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/branch_group.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/selected.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/unit.hpp"
#include "skua/coro/yield.hpp"

#include <cstddef>
#include <deque>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace skua::inline SKUA_ABI {

/// `auto answer = co_await race(primary(query), replica(query));` for tasks and any other
/// awaitables. They take turns in this task. The first that ends decides, by its value or its
/// exception; the others are stopped, and when all have ended its value is given: a T if all give
/// that, otherwise a std::variant, with `unit` for what gives nothing. None is favoured at the
/// start.
///
/// What the others did is lost, unless their leaves give it back, as those of channels, locks,
/// intervals and task groups do: a message that was ready for one of them stays in its channel, a
/// lock is passed on. An operation of the kernel that ended in the same moment has been done, and
/// its result is lost. A stop of the task stops them
/// all; it then unwinds, unless one had ended before. Await it in the same expression if an
/// argument is a leaf or has a name: those are borrowed.
template <typename... Awaitables>
  requires(sizeof...(Awaitables) > 0)
[[nodiscard]] auto race(Awaitables&&... awaited) {
  return made_of<Awaitables...>(await_first(await_in_task(std::forward<Awaitables>(awaited))...));
}

/// The same, but tells which was the first:
///
///   auto event = co_await select(jobs.receive(), tick.next());
///   if (auto* job = event.get<0>()) ...
///
/// In a loop, nothing is lost of arguments that give back: who is not selected has taken nothing,
/// nor has what is awaited beneath it, by timeout() or another select(). A generator whose next()
/// was not selected is of no more use: see async_generator.
template <typename... Awaitables>
  requires(sizeof...(Awaitables) > 0)
[[nodiscard]] auto select(Awaitables&&... awaited) {
  return made_of<Awaitables...>(
      await_selected(await_in_task(std::forward<Awaitables>(awaited))...));
}

/// select() for any number of tasks of one type, but not for none.
template <typename T>
[[nodiscard]] task<selected_at<T>> when_any(std::vector<task<T>> tasks) {
  check(!tasks.empty(), "when_any() waits for one task at least");
  branch_group all(co_await current_context(), branch_group::policy::stop_at_end);
  std::deque<branch_of<T>> branches;
  std::vector<branch*> to_start;
  to_start.reserve(tasks.size());
  for (task<T>& one : tasks) to_start.push_back(&branches.emplace_back(branch_seed<T>{all, one}));
  all.start_in_turn(to_start.data(), to_start.size());
  while (all.running() > 0) co_await all.step();
  if (all.is_stopped()) co_await yield();  // which unwinds
  all.rethrow();
  std::size_t which = 0;
  while (all.decisive() != &branches[which]) ++which;
  co_return selected_at<T>(which, take_value(branches[which].take()));
}

// --- how

template <typename First, typename... Others>
inline constexpr bool all_the_same = (std::is_same_v<First, Others> && ...);

/// What the branch that decided has given: as it is, or as a Value that tells which it was.
template <typename Value, bool TellsWhich, std::size_t I, typename... Ts>
Value take_decisive(const branch* which, std::tuple<branch_of<Ts>...>& all) {
  auto& one = std::get<I>(all);
  if constexpr (I + 1 < sizeof...(Ts)) {
    if (which != &one) return take_decisive<Value, TellsWhich, I + 1>(which, all);
  }
  if constexpr (TellsWhich)
    return Value(std::in_place_index<I>, take_value(one.take()));
  else
    return one.take().value();
}

template <typename Value, bool TellsWhich, typename... Ts>
task<Value> await_decisive(task<Ts>... tasks) {
  branch_group all(co_await current_context(), branch_group::policy::stop_at_end);
  std::tuple<branch_of<Ts>...> branches(branch_seed<Ts>{all, tasks}...);
  std::apply([&all](auto&... each) { all.start_in_turn({&each...}); }, branches);
  while (all.running() > 0) co_await all.step();
  if (all.is_stopped()) co_await yield();  // which unwinds
  all.rethrow();
  co_return take_decisive<Value, TellsWhich, 0>(all.decisive(), branches);
}

template <typename First, typename... Others>
auto await_first(task<First> first, task<Others>... others) {
  constexpr bool plain = all_the_same<First, Others...>;
  using value = std::conditional_t<plain, First,
                                   std::variant<value_or_unit<First>, value_or_unit<Others>...>>;
  return await_decisive<value, !plain>(std::move(first), std::move(others)...);
}

template <typename... Ts>
auto await_selected(task<Ts>... tasks) {
  return await_decisive<selected<Ts...>, true>(std::move(tasks)...);
}

}  // namespace skua::inline SKUA_ABI
