// skua/fiber/call.hpp: makes a task of a plain function, which runs on a stack of its own.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/as_outcome.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/in_place_task.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/task.hpp"
#include "skua/coro/yield.hpp"
#include "skua/fiber/cancelled.hpp"
#include "skua/fiber/options.hpp"
#include "skua/fiber/own_stack.hpp"
#include "skua/runtime/call.hpp"

#include <concepts>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI::fiber {

/// What a function left when it returned from its fiber.
template <typename Function>
class errand {
public:
  using value = std::invoke_result_t<Function&>;
  static_assert(!awaitable<value>,
                "a function on a fiber returns its value: let it fiber::await() what it has, or "
                "await this without a fiber");

  explicit errand(Function& function) noexcept : function_(function) {}

  static void run(void* what) noexcept {
    auto& self = *static_cast<errand*>(what);
    try {
      if constexpr (std::is_void_v<value>) {
        self.function_();
        self.result.set_value();
      } else {
        self.result.set_value(self.function_());
      }
    } catch (const cancelled&) {  // the result stays `stopped`
    } catch (...) {
      self.result.set_exception(std::current_exception());
    }
  }

  outcome<value> result;

private:
  Function& function_;
};

/// `function` is borrowed until the task has ended.
template <typename Function>
task<std::invoke_result_t<Function&>> run_on_fiber(options how, Function& function) {
  errand<Function> whole(function);
  context& chain = co_await current_context();
  {
    own_stack mine(how, chain, errand<Function>::run, &whole);
    while (!mine.ended()) {
      const outcome<void> turns = co_await as_outcome(mine.turns());
      if (turns.stopped()) mine.cancel();
    }
  }
  if (whole.result.stopped()) co_await yield();  // which unwinds: that is why it has stopped
  co_return std::move(whole.result).value();
}

template <typename Function, typename... Args>
class owned_call {
public:
  template <typename F, typename... A>
  explicit owned_call(std::in_place_t, F&& function, A&&... args)
      : function_(std::forward<F>(function)), args_(std::forward<A>(args)...) {}
  decltype(auto) operator()() { return std::apply(function_, std::move(args_)); }

private:
  Function function_;
  std::tuple<Args...> args_;
};

template <typename Call>
task<std::invoke_result_t<Call&>> run_owned_on_fiber(options how, Call call) {
  co_return co_await run_on_fiber(how, call);
}

/// Tells a function from the options that may stand before it.
template <typename T>
concept not_options = !std::same_as<std::remove_cvref_t<T>, options>;

/// A task that calls fn(args...) on a fiber. Like skua::call(): lazy; function and arguments are
/// moved into it (wrap references in std::ref), so it may be spawned, stored, raced:
///
///   scope.spawn(fiber::call(options().stack_size(64 * 1024), parse, std::move(connection)));
///
/// Throws, when awaited, what fn throws, and std::system_error if no stack could be had.
template <not_options Function, typename... Args>
[[nodiscard]] auto call(const options& how, Function&& function, Args&&... args) {
  static_assert(callable_with<std::decay_t<Function>&, std::decay_t<Args>...>,
                "this cannot be called with these arguments: the task owns them and gives them "
                "away as rvalues; wrap what is to be passed by reference in std::ref");
  static_assert(callable_survives<Function>,
                "g++ would copy this temporary's captures bitwise: pass them as arguments, "
                "(fn, args...), or give the callable a name");
  using owned = owned_call<std::decay_t<Function>, std::decay_t<Args>...>;
  return run_owned_on_fiber<owned>(
      how, owned(std::in_place, std::forward<Function>(function), std::forward<Args>(args)...));
}
/// The same with default options.
template <not_options Function, typename... Args>
[[nodiscard]] auto call(Function&& function, Args&&... args) {
  return call(options(), std::forward<Function>(function), std::forward<Args>(args)...);
}

}  // namespace skua::inline SKUA_ABI::fiber
