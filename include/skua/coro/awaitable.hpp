// skua/coro/awaitable.hpp: what can be awaited, and what awaiting it gives.
#pragma once

#include "skua/base/abi.hpp"

#include <coroutine>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// A type that calls itself one of skua's awaiters: it knows promise_base, and resumes through it.
template <typename T>
concept skua_awaiter = requires { typename T::skua_awaiter_tag; };

/// A type that is consumed by awaiting it, like task: only an rvalue will do.
template <typename T>
concept awaited_as_rvalue = requires { typename T::awaited_as_rvalue_tag; };

/// One that, besides, cannot be moved: it is awaited in the expression that made it.
template <typename T>
concept awaited_in_place = requires { typename T::awaited_in_place_tag; };

/// What has an operator co_await as a member.
template <typename T>
concept has_member_co_await = requires(T&& x) { std::forward<T>(x).operator co_await(); };
/// What has an operator co_await as a free function.
template <typename T>
concept has_free_co_await = requires(T&& x) { operator co_await(std::forward<T>(x)); };

/// The awaiter that co_await would use for a T, by value or by reference as T gives it.
template <typename T>
decltype(auto) awaiter_of(T&& awaitable) {
  if constexpr (has_member_co_await<T>)
    return std::forward<T>(awaitable).operator co_await();
  else if constexpr (has_free_co_await<T>)
    return operator co_await(std::forward<T>(awaitable));
  else
    return std::forward<T>(awaitable);
}

/// The awaiter that co_await works on: what operator co_await gives, or the object itself.
template <typename T>
using awaiter_t = decltype(awaiter_of(std::declval<T>()));

/// Anything that can stand behind co_await in a skua coroutine.
template <typename T>
concept awaitable = requires(std::remove_reference_t<awaiter_t<T>>& awaiter) {
  awaiter.await_ready() ? 0 : 0;
  awaiter.await_resume();
};

/// The type of `co_await x` for an x of type T.
template <typename T>
using await_result_t =
    decltype(std::declval<std::remove_reference_t<awaiter_t<T>>&>().await_resume());

}  // namespace skua::inline SKUA_ABI
