// skua/coro/for_each_concurrent.hpp: a function for each of many things, a few at a time.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/branch_group.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"

#include <cstddef>
#include <deque>
#include <exception>
#include <ranges>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

template <typename Range, typename Function>
task<> await_each(Range range, std::size_t at_once, Function fn);

/// `co_await for_each_concurrent(urls, 16, fetch);` calls `fn(element)`, which gives an awaitable
/// without a value, for every element, in order, with at most `at_once` of them under way. They
/// take turns in this task, as in when_all(): what they share needs no locks. Elements of a
/// container are passed where they are; what a range makes as it goes is kept until fn is done with
/// it.
///
/// If one throws, the others are stopped, no more are begun, and the exception is rethrown when all
/// have ended. A stop of the task stops them and unwinds. Range and fn are moved in if they are
/// temporaries; otherwise they stay the caller's. Costs as many frames as are under way at once. An
/// `at_once` of 0 would never end: it ends the program, and says so.
template <std::ranges::input_range Range, typename Function>
[[nodiscard]] task<> for_each_concurrent(Range&& range, std::size_t at_once, Function&& fn) {
  static_assert(callable_survives<Function>,
                "g++ would copy this temporary's captures bitwise: give the callable a name");
  return await_each<Range, Function>(std::forward<Range>(range), at_once,
                                     std::forward<Function>(fn));
}

// --- how

/// An element as it is passed on: where it is, if it stays there.
template <typename Range>
using element_of =
    std::conditional_t<std::ranges::forward_range<Range> &&
                           std::is_lvalue_reference_v<std::ranges::range_reference_t<Range>>,
                       std::ranges::range_reference_t<Range>, std::ranges::range_value_t<Range>>;

/// Takes the next element whenever it is done with the last.
template <typename Range, typename Function>
task<> take_each(std::ranges::iterator_t<Range>& next, const std::ranges::sentinel_t<Range>& end,
                 Function& fn) {
  using element = element_of<Range>;
  static_assert(std::is_void_v<await_result_t<std::invoke_result_t<Function&, element>>>,
                "nobody would see what the function gives: let it give nothing");
  const context& here = co_await current_context();
  while (next != end && !here.is_to_stop()) {
    element one = *next;
    ++next;
    co_await fn(std::forward<element>(one));
  }
}

/// A lane is made when all others wait: those that are begun are begun in order.
template <typename Range, typename Function>
task<> await_each(Range range, std::size_t at_once, Function fn) {
  using plain = std::remove_reference_t<Range>;
  check(at_once > 0, "for_each_concurrent() has at least one under way at a time");
  branch_group all(co_await current_context(), branch_group::policy::stop_at_failure);
  std::deque<branch_of<void>> lanes;
  std::exception_ptr thrown;  // by the range, or for want of memory
  auto next = std::ranges::begin(range);
  const auto end = std::ranges::end(range);
  for (;;) {
    const bool fails = all.decisive() != nullptr || thrown != nullptr;
    if (!fails && lanes.size() < at_once) {
      try {
        if (next != end) {
          task<> lane = take_each<plain>(next, end, fn);
          all.start(lanes.emplace_back(branch_seed<void>{all, lane}));
        }
      } catch (...) {
        thrown = std::current_exception();
        all.stop_all();
      }
    }
    if (all.running() == 0) break;
    co_await all.step();
  }
  if (all.is_stopped()) co_await yield();  // which unwinds
  if (thrown != nullptr) std::rethrow_exception(thrown);
  all.rethrow();
}

}  // namespace skua::inline SKUA_ABI
