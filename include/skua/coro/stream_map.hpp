// skua/coro/stream_map.hpp: streams of other values, or of some of them.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/stream_adaptor.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI::stream {

// What is yielded has a name: g++ 12 would copy a temporary aggregate bit by bit.
struct map_step {
  template <typename T, typename Function>
  static async_generator<given_t<Function, T>> run(async_generator<T> from, Function fn) {
    using given = given_t<Function, T>;
    while (auto item = co_await from.next()) {
      if constexpr (gives_awaitable<Function, T>) {
        given made = co_await fn(static_cast<T&&>(*item));
        co_yield static_cast<given&&>(made);
      } else {
        given made = fn(static_cast<T&&>(*item));
        co_yield static_cast<given&&>(made);
      }
    }
  }
};
/// Gives what `fn(value)` gives, for each value.
template <typename Function>
[[nodiscard]] auto map(Function&& fn) {
  return adaptor_with<map_step>(std::forward<Function>(fn));
}

struct unawaited_step {
  template <typename T, typename Function>
  static async_generator<std::invoke_result_t<Function&, T>> run(async_generator<T> from,
                                                                 Function fn) {
    while (auto item = co_await from.next()) {
      auto made = fn(static_cast<T&&>(*item));
      co_yield std::move(made);
    }
  }
};
/// Gives the awaitable that `fn(value)` gives, for each value, as it is: for who awaits several at
/// a time. fn ends with this stream: what it gave must not need it longer, as a lambda with
/// captures does that is a coroutine. See buffered() in skua/sync/stream_buffered.hpp, which keeps
/// its function.
template <typename Function>
[[nodiscard]] auto unawaited(Function&& fn) {
  return adaptor_with<unawaited_step>(std::forward<Function>(fn));
}

struct filter_step {
  template <typename T, typename Predicate>
  static async_generator<T> run(async_generator<T> from, Predicate keep) {
    using seen = const std::remove_reference_t<T>&;
    while (auto item = co_await from.next()) {
      bool wanted = false;
      if constexpr (gives_awaitable<Predicate, seen>)
        wanted = co_await keep(*item);
      else
        wanted = keep(*item);
      if (wanted) co_yield static_cast<T&&>(*item);
    }
  }
};
/// Gives the values for which `keep(value)` is true.
template <typename Predicate>
[[nodiscard]] auto filter(Predicate&& keep) {
  return adaptor_with<filter_step>(std::forward<Predicate>(keep));
}

struct chunk_step {
  template <typename T>
  static async_generator<std::vector<T>> run(async_generator<T> from, std::size_t size) {
    static_assert(can_be_kept<T>, "values that are kept are no references: map them");
    std::vector<T> gathered;
    while (auto item = co_await from.next()) {
      gathered.push_back(std::move(*item));
      if (gathered.size() < size) continue;
      co_yield std::move(gathered);
      gathered = std::vector<T>();
    }
    if (!gathered.empty()) co_yield std::move(gathered);
  }
};
/// Gives vectors of `size` values each; the last may have fewer. A next() that is stopped loses
/// what it had gathered.
[[nodiscard]] inline auto chunk(std::size_t size) {
  check(size > 0, "a chunk of a stream has at least one value");
  return adaptor<chunk_step, std::size_t>(size);
}

}  // namespace skua::inline SKUA_ABI::stream
