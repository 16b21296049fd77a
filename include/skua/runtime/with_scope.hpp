// skua/runtime/with_scope.hpp: a block that its children cannot outlive.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/branch_group.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/unit.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/call.hpp"
#include "skua/runtime/scope.hpp"

#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Runs `fn(children, args...)`, a coroutine, in this task; the children that it spawns run beside
/// it on all workers, and whatever happens it goes on only when they have all ended. So they may
/// borrow from here:
///
///   co_await with_scope([&](scope& children) -> task<> {
///     for (auto& shard : shards) children.spawn(rebuild(shard));
///     co_return;
///   });
///
/// They may not borrow from fn itself: what that declares, or was passed, is gone when it returns,
/// and the children may go on.
///
/// Gives what fn gives. If fn or a child fails, the others are stopped, fn included, and when all
/// have ended that is rethrown: what failed after it is lost. A stop of the task stops fn and the
/// children, and unwinds when they have ended. fn and the arguments are moved into the scope (a
/// reference needs std::ref); with g++ 12 a lambda with captures needs a name, or pass (fn,
/// args...).
template <typename Callable, typename... Args>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, scope_policy>)
[[nodiscard]] auto with_scope(Callable&& fn, Args&&... args) {
  return with_scope(scope_policy::stop_at_failure, std::forward<Callable>(fn),
                    std::forward<Args>(args)...);
}

/// The same with a policy.
template <typename Callable, typename... Args>
[[nodiscard]] auto with_scope(scope_policy how, Callable&& fn, Args&&... args) {
  static_assert(callable_with<std::decay_t<Callable>&, scope&, std::decay_t<Args>...>,
                "the function is called with a skua::scope& and these arguments");
  static_assert(callable_survives<Callable>,
                "g++ would copy this temporary's captures bitwise: pass them as arguments, "
                "(fn, args...), or give the callable a name");
  return await_in_scope<std::decay_t<Callable>, std::decay_t<Args>...>(
      how, std::forward<Callable>(fn), std::forward<Args>(args)...);
}

// --- how

template <typename Callable, typename... Args>
task<called_t<Callable&, scope&, Args...>> await_in_scope(scope_policy how, Callable fn,
                                                          Args... args) {
  using value = called_t<Callable&, scope&, Args...>;
  context& here = co_await current_context();
  scope children(how, here);
  branch_group alone(here, branch_group::policy::wait_for_all);
  task<value> what = call_in_scope<value>(fn, children, std::move(args)...);
  branch_of<value> body(branch_seed<value>{alone, what});
  children.set_body(body);
  alone.start(body);
  while (alone.running() > 0) co_await alone.step();
  if (body.exception() != nullptr) children.fail(body.exception());
  if (body.failed()) children.stop();
  co_await children.end();
  children.rethrow();
  if (here.stop_requested() && (body.failed() || children.stopped_by_task()))
    co_await yield();  // which unwinds
  co_return body.take().value();
}

template <typename T, typename Callable, typename... Args>
task<T> call_in_scope(Callable& fn, scope& children, Args... args) {
  co_return co_await fn(children, std::move(args)...);
}

}  // namespace skua::inline SKUA_ABI
