// skua/coro/with.hpp: a resource whose end has to be awaited, whatever happens to its user.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/as_outcome.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"

#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Closes a resource that knows how.
struct closes_itself {
  template <typename Resource>
  auto operator()(Resource& one) const {
    return one.close();
  }
};

template <typename Resource, typename Use, typename Close>
task<await_result_t<std::invoke_result_t<Use&, Resource&>>> await_with(Resource resource, Use use,
                                                                       Close close);

/// What the call throws, awaiting it throws.
template <typename Function, typename Resource>
task<await_result_t<std::invoke_result_t<Function&, Resource&>>> await_call(Function& fn,
                                                                            Resource& resource) {
  co_return co_await fn(resource);
}

/// Destructors cannot wait; this can:
///
///   int rows = co_await with(co_await connect(address), [](connection& c) -> task<int> { ... });
///
/// Awaits `use(resource)`, and then `resource.close()`, also if use() throws or the task is
/// stopped: a stop is hidden from close(). Then gives what use() gave, rethrows, or unwinds. If
/// use() gave a value and close() fails, that is thrown; an error value as std::system_error. The
/// resource is moved in, and destroyed after close(); without that, if this was never begun.
template <typename Resource, typename Use>
[[nodiscard]] auto with(Resource&& resource, Use&& use) {
  return with(std::forward<Resource>(resource), std::forward<Use>(use), closes_itself());
}

/// The same, with `close(resource)` for those that have no close() of their own.
template <typename Resource, typename Use, typename Close>
[[nodiscard]] auto with(Resource&& resource, Use&& use, Close&& close) {
  static_assert(callable_survives<Use> && callable_survives<Close>,
                "g++ would copy this temporary's captures bitwise: give the callable a name");
  return await_with<std::decay_t<Resource>, std::decay_t<Use>, std::decay_t<Close>>(
      std::forward<Resource>(resource), std::forward<Use>(use), std::forward<Close>(close));
}

// --- how

template <typename Resource, typename Use, typename Close>
task<await_result_t<std::invoke_result_t<Use&, Resource&>>> await_with(Resource resource, Use use,
                                                                       Close close) {
  using closed_with = await_result_t<std::invoke_result_t<Close&, Resource&>>;
  auto used = co_await as_outcome(await_call(use, resource));
  auto closed = co_await as_outcome(shielded(await_call(close, resource)));
  if (used.stopped()) co_await yield();  // which unwinds
  if (used.has_value()) {
    if constexpr (is_result<closed_with>)
      or_throw(std::move(closed).value());
    else
      std::move(closed).value();
  }
  co_return std::move(used).value();
}

}  // namespace skua::inline SKUA_ABI
