// skua/coro/awaiting_promise.hpp: the promise of a coroutine that may co_await.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/foreign.hpp"
#include "skua/coro/promise_base.hpp"

#include <coroutine>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Awaits an awaiter where it is. g++ 12 would copy what await_transform returns by reference.
template <typename Awaiter>
class awaiter_reference {
public:
  explicit awaiter_reference(Awaiter& to) noexcept : to_(&to) {}
  bool await_ready() const { return to_->await_ready(); }
  template <typename Promise>
  auto await_suspend(std::coroutine_handle<Promise> self) const {
    return to_->await_suspend(self);
  }
  decltype(auto) await_resume() const { return to_->await_resume(); }

private:
  Awaiter* to_;
};

struct awaiting_promise : promise_base {
  /// skua's own awaitables pass through; foreign ones are wrapped, so that the task comes back to
  /// its own executor whichever thread resumes it.
  template <typename Awaitable>
    requires(!awaited_in_place<std::remove_cvref_t<Awaitable>>)
  decltype(auto) await_transform(Awaitable&& awaited) {
    using plain = std::remove_cvref_t<Awaitable>;
    if constexpr (awaited_as_rvalue<plain>) {
      static_assert(!std::is_lvalue_reference_v<Awaitable>,
                    "a task or a join handle is awaited once, as an rvalue: co_await std::move(x)");
      return std::forward<Awaitable>(awaited);
    } else if constexpr (skua_awaiter<plain>) {
      return awaiter_reference<std::remove_reference_t<Awaitable>>(awaited);
    } else {
      static_assert(awaitable<Awaitable>, "this type cannot be awaited: it has no await_ready()");
      static_assert(!uses_trampoline || std::is_lvalue_reference_v<Awaitable> ||
                        !std::is_aggregate_v<plain> || std::is_trivially_copyable_v<plain>,
                    "g++ would copy this temporary aggregate bitwise: give the awaiter a "
                    "constructor, or a name and await that");
      return foreign_awaiter<Awaitable>(std::forward<Awaitable>(awaited));
    }
  }
  /// By value: what cannot be moved gets here only from the expression that makes it.
  template <awaited_in_place Awaitable>
  auto await_transform(Awaitable awaited) noexcept {
    return std::move(awaited).operator co_await();
  }
};

}  // namespace skua::inline SKUA_ABI
