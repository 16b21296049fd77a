// skua/fiber/await.hpp: waits in a plain function that runs on a fiber, from any call depth.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/foreign.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/fiber/cancelled.hpp"
#include "skua/fiber/own_stack.hpp"

#include <source_location>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI::fiber {

/// True if the calling code runs on a fiber: if it may await().
[[nodiscard]] inline bool inside() noexcept {
  return own_stack::running() != nullptr;
}

/// The awaiter that `co_await` in a skua coroutine would use.
template <typename Awaitable>
decltype(auto) fiber_awaiter(Awaitable&& awaited) {
  using plain = std::remove_cvref_t<Awaitable>;
  if constexpr (awaited_as_rvalue<plain>) {
    static_assert(!std::is_lvalue_reference_v<Awaitable>,
                  "a task or a join handle is awaited once, as an rvalue: await(std::move(x))");
    return std::forward<Awaitable>(awaited).operator co_await();
  } else if constexpr (skua_awaiter<plain>) {
    return static_cast<std::remove_reference_t<Awaitable>&>(awaited);
  } else {
    static_assert(awaitable<Awaitable>, "this type cannot be awaited: it has no await_ready()");
    return foreign_awaiter<Awaitable>(std::forward<Awaitable>(awaited));
  }
}

/// `auto n = fiber::await(stream.read(buffer));` is to a function on a fiber what `co_await` is to
/// a coroutine: gives the value, or throws the exception, of anything that can be awaited: tasks,
/// handles, leaves, combinators. The worker does other things meanwhile.
///
/// Cancellation: throws `cancelled` where a coroutine would be unwound, and from then on at once,
/// unless a shield hides the stop (await_shielded()). In a destructor that runs because of it, that
/// would end the program.
///
/// Only on a fiber: anywhere else it is a mistake that ends the program; see inside(). The code
/// after it may run on another thread: docs/fibers.md tells what must not be held across it.
/// Allocates nothing itself. `awaited` is borrowed until it returns.
template <typename Awaitable>
decltype(auto) await(Awaitable&& awaited,
                     std::source_location where = std::source_location::current()) {
  own_stack* const here = own_stack::running();
  check(here != nullptr,
        "fiber::await() is called on a fiber: in a function run by fiber::run() or fiber::spawn()",
        where);
  here->raise_if_cancelled();
  auto&& awaiter = fiber_awaiter(std::forward<Awaitable>(awaited));
  if (!awaiter.await_ready()) here->wait(pending_await(awaiter));
  return awaiter.await_resume();
}

/// The same, but a stop of the task does not reach it: for cleaning up, also in destructors and
/// after `cancelled` was thrown. Keep it short.
template <typename Awaitable>
decltype(auto) await_shielded(Awaitable&& awaited,
                              std::source_location where = std::source_location::current()) {
  own_stack* const here = own_stack::running();
  check(here != nullptr, "fiber::await_shielded() is called on a fiber", where);
  const shield hidden(here->chain());
  return await(std::forward<Awaitable>(awaited), where);
}

}  // namespace skua::inline SKUA_ABI::fiber
