// skua/coro/stream_take.hpp: a part of a stream, from its beginning or without that.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/stream_adaptor.hpp"

#include <cstddef>
#include <utility>

namespace skua::inline SKUA_ABI::stream {

struct take_step {
  template <typename T>
  static async_generator<T> run(async_generator<T> from, std::size_t left) {
    for (; left > 0; --left) {
      auto item = co_await from.next();
      if (!item) co_return;
      co_yield static_cast<T&&>(*item);
    }
  }
};
/// Gives the first `count` values, and does not ask for more.
[[nodiscard]] inline auto take(std::size_t count) {
  return adaptor<take_step, std::size_t>(count);
}

struct skip_step {
  template <typename T>
  static async_generator<T> run(async_generator<T> from, std::size_t left) {
    while (auto item = co_await from.next()) {
      if (left == 0) co_yield static_cast<T&&>(*item);
      if (left > 0) --left;
    }
  }
};
/// Leaves out the first `count` values.
[[nodiscard]] inline auto skip(std::size_t count) {
  return adaptor<skip_step, std::size_t>(count);
}

struct take_while_step {
  template <typename T, typename Predicate>
  static async_generator<T> run(async_generator<T> from, Predicate go_on) {
    using seen = const std::remove_reference_t<T>&;
    while (auto item = co_await from.next()) {
      bool wanted = false;
      if constexpr (gives_awaitable<Predicate, seen>)
        wanted = co_await go_on(*item);
      else
        wanted = go_on(*item);
      if (!wanted) co_return;
      co_yield static_cast<T&&>(*item);
    }
  }
};
/// Gives the values up to the first for which `go_on(value)` is false, and then ends.
template <typename Predicate>
[[nodiscard]] auto take_while(Predicate&& go_on) {
  return adaptor_with<take_while_step>(std::forward<Predicate>(go_on));
}

}  // namespace skua::inline SKUA_ABI::stream
