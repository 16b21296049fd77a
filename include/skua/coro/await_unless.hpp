// skua/coro/await_unless.hpp: awaits something, unless something else ends first.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/branch_group.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"

#include <system_error>
#include <type_traits>

namespace skua::inline SKUA_ABI {

/// What a T becomes when it may fail to come.
template <typename T>
struct limited_value {
  static_assert(!std::is_reference_v<T>, "a result holds no reference: give a pointer");
  using type = std::conditional_t<is_result<T>, T, result<T>>;
};
template <typename T>
using limited = typename limited_value<T>::type;

/// What a branch has given, or throws what it has thrown. After its end, once.
template <typename T>
limited<T> take_limited(branch_of<T>& works) {
  if constexpr (std::is_void_v<T>) {
    works.take().value();
    return {};
  } else {
    return works.take().value();
  }
}

/// For combinators: `what` and `limit` take turns in this task. When `limit` ends, `what` is
/// stopped, and `why` given when it has ended. How `what` ends counts more: a value that it gives
/// even so is given, and what it throws is thrown. What `limit` throws is thrown if `what` gives
/// nothing. `limit` has the first turn, but `what` has one in any case.
template <typename T>
task<limited<T>> await_unless(task<T> what, task<> limit, std::errc why) {
  branch_group both(co_await current_context(), branch_group::policy::wait_for_all);
  branch_of<T> works(branch_seed<T>{both, what});
  branch_of<void> limits(branch_seed<void>{both, limit});
  both.gives_value_of(works);
  both.start(limits);
  both.start(works);
  while (both.running() > 0) {
    co_await both.step();
    if (both.running() == 1) both.end_all();  // the other has ended
  }
  const bool was_stopped = works.failed() && works.exception() == nullptr;
  if (was_stopped) {
    if (limits.failed() && limits.exception() == nullptr) co_await yield();  // which unwinds
    limits.take().value();
    co_return fail(why);
  }
  co_return take_limited(works);
}

}  // namespace skua::inline SKUA_ABI
