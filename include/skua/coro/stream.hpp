// skua/coro/stream.hpp: what can be done with a sequence of values that come in time.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/task.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {

/// An async_generator is a stream; adaptors make another one of it:
///
///   auto busy = readings() | stream::filter(is_busy) | stream::map(to_percent) | stream::take(10);
///   co_await stream::for_each(std::move(busy), show);
///
/// Nothing runs before next() is awaited, and nothing runs ahead: each adaptor asks its source for
/// as many values as it needs. Functions may be plain or give an awaitable, which is then awaited.
/// They and the source are moved in. Each adaptor costs one frame for the whole stream.
///
/// Exceptions of source and functions leave next(), after which the stream has ended. A stop
/// unwinds adaptors and source, and the value they were at is lost.
template <typename T, typename Adaptor>
  requires std::invocable<Adaptor, async_generator<T>>
auto operator|(async_generator<T> from, Adaptor&& adaptor) {
  return std::forward<Adaptor>(adaptor)(std::move(from));
}

namespace stream {

/// What a function of a value gives in the end.
template <typename Result>
struct given {
  using type = Result;
};
template <awaitable Result>
struct given<Result> {
  using type = await_result_t<Result>;
};
template <typename Function, typename T>
using given_t = typename given<std::invoke_result_t<Function&, T>>::type;

/// Gives what `fn(value)` gives, for each value.
template <typename Function>
class map {
public:
  explicit map(Function fn) : fn_(std::move(fn)) {}
  template <typename T>
  auto operator()(async_generator<T> from) && {
    return run<T>(std::move(from), std::move(fn_));
  }

private:
  template <typename T>
  static async_generator<given_t<Function, T>> run(async_generator<T> from, Function fn) {
    while (auto item = co_await from.next()) {
      if constexpr (awaitable<std::invoke_result_t<Function&, T>>)
        co_yield co_await fn(static_cast<T&&>(*item));
      else
        co_yield fn(static_cast<T&&>(*item));
    }
  }

  Function fn_;
};

/// Gives the values for which `keep(value)` is true.
template <typename Predicate>
class filter {
public:
  explicit filter(Predicate keep) : keep_(std::move(keep)) {}
  template <typename T>
  auto operator()(async_generator<T> from) && {
    return run<T>(std::move(from), std::move(keep_));
  }

private:
  template <typename T>
  static async_generator<T> run(async_generator<T> from, Predicate keep) {
    using seen = const std::remove_reference_t<T>&;
    while (auto item = co_await from.next()) {
      bool wanted = false;
      if constexpr (awaitable<std::invoke_result_t<Predicate&, seen>>)
        wanted = co_await keep(*item);
      else
        wanted = keep(*item);
      if (wanted) co_yield static_cast<T&&>(*item);
    }
  }

  Predicate keep_;
};

/// Gives the values up to the first for which `go_on(value)` is false, and then ends.
template <typename Predicate>
class take_while {
public:
  explicit take_while(Predicate go_on) : go_on_(std::move(go_on)) {}
  template <typename T>
  auto operator()(async_generator<T> from) && {
    return run<T>(std::move(from), std::move(go_on_));
  }

private:
  template <typename T>
  static async_generator<T> run(async_generator<T> from, Predicate go_on) {
    while (auto item = co_await from.next()) {
      if (!go_on(std::as_const(*item))) co_return;
      co_yield static_cast<T&&>(*item);
    }
  }

  Predicate go_on_;
};

/// Gives the first `count` values, and does not ask for more.
class take {
public:
  explicit take(std::size_t count) noexcept : count_(count) {}
  template <typename T>
  auto operator()(async_generator<T> from) const {
    return run(std::move(from), count_);
  }

private:
  template <typename T>
  static async_generator<T> run(async_generator<T> from, std::size_t left) {
    for (; left > 0; --left) {
      auto item = co_await from.next();
      if (!item) co_return;
      co_yield static_cast<T&&>(*item);
    }
  }

  std::size_t count_;
};

/// Leaves out the first `count` values.
class skip {
public:
  explicit skip(std::size_t count) noexcept : count_(count) {}
  template <typename T>
  auto operator()(async_generator<T> from) const {
    return run(std::move(from), count_);
  }

private:
  template <typename T>
  static async_generator<T> run(async_generator<T> from, std::size_t left) {
    while (auto item = co_await from.next()) {
      if (left == 0) co_yield static_cast<T&&>(*item);
      if (left > 0) --left;
    }
  }

  std::size_t count_;
};

/// Gives vectors of `size` values each; the last may have fewer.
class chunk {
public:
  explicit chunk(std::size_t size) noexcept : size_(size) {
    check(size > 0, "a chunk of a stream has at least one value");
  }
  template <typename T>
  auto operator()(async_generator<T> from) const {
    static_assert(!std::is_reference_v<T>, "values that are kept are no references: map them");
    return run(std::move(from), size_);
  }

private:
  template <typename T>
  static async_generator<std::vector<T>> run(async_generator<T> from, std::size_t size) {
    std::vector<T> gathered;
    while (auto item = co_await from.next()) {
      gathered.push_back(std::move(*item));
      if (gathered.size() < size) continue;
      co_yield std::move(gathered);
      gathered = std::vector<T>();
    }
    if (!gathered.empty()) co_yield std::move(gathered);
  }

  std::size_t size_;
};

/// `co_await stream::for_each(source, fn);` calls `fn(value)` for each value until the end, one
/// after the other, and awaits what it gives, if that can be awaited.
template <typename T, typename Function>
[[nodiscard]] task<> for_each(async_generator<T> from, Function fn) {
  while (auto item = co_await from.next()) {
    if constexpr (awaitable<std::invoke_result_t<Function&, T>>)
      co_await fn(static_cast<T&&>(*item));
    else
      fn(static_cast<T&&>(*item));
  }
}

/// `co_await stream::collect(source)`: all values until the end.
template <typename T>
[[nodiscard]] task<std::vector<T>> collect(async_generator<T> from) {
  std::vector<T> all;
  while (auto item = co_await from.next()) all.push_back(std::move(*item));
  co_return all;
}

}  // namespace stream
}  // namespace skua::inline SKUA_ABI
