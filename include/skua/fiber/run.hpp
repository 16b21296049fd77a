// skua/fiber/run.hpp: lets a coroutine call a plain function that waits, and await it in place.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/in_place_task.hpp"
#include "skua/fiber/call.hpp"
#include "skua/fiber/options.hpp"

#include <source_location>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI::fiber {

/// `co_await fiber::run([&] { return parse(stream); })`: calls it on a stack of its own, where it
/// may fiber::await(), and gives its value or throws its exception. It may borrow what it likes:
/// this is awaited in the same expression, and returns when the function has. The function is not
/// copied.
///
/// Cancellation: the function's await() throws `cancelled`; this waits until its stack has unwound.
/// Throws std::system_error if no stack could be had.
template <not_options Function>
[[nodiscard]] auto run(const options& how, Function&& function) {
  static_assert(callable_survives<Function>,
                "g++ would copy this temporary's captures bitwise: capture by reference, or give "
                "the callable a name");
  using value = std::invoke_result_t<std::remove_reference_t<Function>&>;
  return in_place_task<value>(run_on_fiber(how, function));
}
/// The same with default options.
template <not_options Function>
[[nodiscard]] auto run(Function&& function,
                       std::source_location where = std::source_location::current()) {
  return run(options(where), std::forward<Function>(function));
}

}  // namespace skua::inline SKUA_ABI::fiber
