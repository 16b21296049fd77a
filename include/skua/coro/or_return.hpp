// skua/coro/or_return.hpp: the value of a result, or the end of the coroutine with its error.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/promise_base.hpp"
#include "skua/coro/task.hpp"

#include <coroutine>
#include <expected>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// True for the outcome of a task that returns a std::expected which can hold an E.
template <typename Outcome, typename E>
inline constexpr bool holds_error = false;
template <typename T, typename Own, typename E>
inline constexpr bool holds_error<outcome<std::expected<T, Own>>, E> =
    std::is_convertible_v<E, Own>;

/// True for the promise of such a task, whichever allocator its frame comes from.
template <typename Promise, typename E>
concept returns_error = requires(Promise& promise) {
  requires holds_error<std::remove_reference_t<decltype(promise.result())>, E>;
};

template <typename T, typename E>
class or_return_awaiter {
public:
  using skua_awaiter_tag = void;

  explicit or_return_awaiter(std::expected<T, E>&& from) noexcept(
      std::is_nothrow_move_constructible_v<std::expected<T, E>>)
      : from_(std::move(from)) {}

  bool await_ready() const noexcept { return from_.has_value(); }

  /// Sets the error as the coroutine's result and leaves it suspended here for good: whoever takes
  /// the result destroys the frame, and with it the locals.
  template <typename Promise>
  auto await_suspend(std::coroutine_handle<Promise> self) noexcept {
    static_assert(returns_error<Promise, E>,
                  "or_return ends its coroutine with an error, so that must return "
                  "skua::task<skua::result<...>>; use skua::or_throw elsewhere");
    if constexpr (returns_error<Promise, E>) {
      self.promise().return_value(std::unexpected<E>(std::move(from_).error()));
      self.promise().give_up();
      return self.promise().hand_back();
    }
  }

  T await_resume() {
    if constexpr (!std::is_void_v<T>) return *std::move(from_);
  }

private:
  std::expected<T, E> from_;
};

/// `auto n = co_await or_return(co_await socket.read(buffer));` in a coroutine that returns a
/// result: gives the value, or ends the coroutine with the error, destroying its locals.
template <typename T, typename E>
[[nodiscard]] or_return_awaiter<T, E> or_return(std::expected<T, E> from) {
  return or_return_awaiter<T, E>(std::move(from));
}

/// A task is not a result yet: or_return(co_await task).
template <typename T>
void or_return(task<T>) {
  static_assert(!std::is_same_v<T, T>,
                "or_return takes a result: co_await skua::or_return(co_await task)");
}

}  // namespace skua::inline SKUA_ABI
