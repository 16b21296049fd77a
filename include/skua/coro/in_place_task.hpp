// skua/coro/in_place_task.hpp: a task that borrows from the expression in which it is awaited.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/task.hpp"

#include <concepts>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// What race(), when_all(), timeout() and their kin give if an argument is a leaf or has a name:
/// that stays where it is, and a temporary ends with the expression. So this is awaited in the same
/// expression, or passed on to another of them there:
///
///   co_await timeout(1s, race(sleep(2s), jobs.receive()));
///
/// It cannot be moved, and so neither spawned nor returned as a task; nor awaited by itself if it
/// was given a name. Two things the compiler cannot see: a function that returns it as `auto`, and
/// one with a name that std::move() passes to another combinator. Where that is wanted, write a
/// coroutine that awaits it, and spawn or return that. Costs nothing.
template <typename T>
class [[nodiscard("a task does nothing until it is awaited")]] in_place_task {
public:
  /// What awaiting it gives.
  using value_type = T;
  using awaited_as_rvalue_tag = void;
  using awaited_in_place_tag = void;

  /// Made by the functions that give it.
  explicit in_place_task(task<T> whole) noexcept : whole_(std::move(whole)) {}
  in_place_task(const in_place_task&) = delete;  // it borrows: await it where it was made
  in_place_task& operator=(const in_place_task&) = delete;

  /// `co_await race(...)`: starts it, and gives what it gives or throws. Once.
  typename task<T>::awaiter operator co_await() && noexcept {
    return std::move(whole_).operator co_await();
  }
  /// For combinators of the same expression.
  [[nodiscard]] task<T> take() && noexcept { return std::move(whole_); }

private:
  task<T> whole_;
};

/// An argument of a combinator that is not moved into its task.
template <typename Awaitable>
concept is_borrowed = std::is_lvalue_reference_v<Awaitable> ||
                      !std::move_constructible<std::remove_cvref_t<Awaitable>>;

/// For combinators: `whole`, which awaits these arguments, as it may be used.
template <typename... Awaitables, typename T>
auto made_of(task<T> whole) {
  if constexpr ((is_borrowed<Awaitables> || ...))
    return in_place_task<T>(std::move(whole));
  else
    return whole;
}

}  // namespace skua::inline SKUA_ABI
