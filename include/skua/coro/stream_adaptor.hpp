// skua/coro/stream_adaptor.hpp: what stands behind | and makes one stream of another.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/callable_survives.hpp"

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `source | adaptor` for an async_generator, which is moved in.
template <typename T, typename Adaptor>
  requires std::invocable<Adaptor, async_generator<T>>
auto operator|(async_generator<T> from, Adaptor&& adaptor) {
  return std::forward<Adaptor>(adaptor)(std::move(from));
}

namespace stream {

/// An adaptor: keeps what belongs to it (a function, a number) until its source comes, and then
/// gives `Step::run(source, kept...)`. A temporary gives its parts away, one with a name gives
/// copies of them and can be used again.
template <typename Step, typename... Kept>
class adaptor {
public:
  /// Made by map(), take() and their kin.
  explicit adaptor(Kept... kept) : kept_(std::move(kept)...) {}

  /// What `source | adaptor` does: the new stream, of which `from` is a part.
  template <typename T>
  auto operator()(async_generator<T> from) && {
    return std::apply(
        [&from](Kept&... kept) { return Step::run(std::move(from), std::move(kept)...); }, kept_);
  }
  /// The same with copies of what is kept.
  template <typename T>
  auto operator()(async_generator<T> from) const& {
    return std::apply([&from](const Kept&... kept) { return Step::run(std::move(from), kept...); },
                      kept_);
  }

private:
  std::tuple<Kept...> kept_;
};

/// One that keeps a function, which may stand in a co_await expression.
template <typename Step, typename Function>
auto adaptor_with(Function&& fn) {
  static_assert(callable_survives<Function>,
                "g++ would copy this temporary's captures bitwise: give the callable a name");
  return adaptor<Step, std::decay_t<Function>>(std::forward<Function>(fn));
}

/// What a function of a value gives in the end.
template <typename Result>
struct given {
  using type = Result;
};
template <awaitable Result>
struct given<Result> {
  static_assert(!awaited_in_place<Result>,
                "this borrows from the function that returns it: let that be a coroutine, and "
                "co_await it there");
  using type = await_result_t<Result>;
};
template <typename Function, typename T>
using given_t = typename given<std::invoke_result_t<Function&, T>>::type;

/// The function gives something that has to be awaited first.
template <typename Function, typename T>
concept gives_awaitable = awaitable<std::invoke_result_t<Function&, T>>;

/// Values that outlive the next() that gave them.
template <typename T>
inline constexpr bool can_be_kept = !std::is_reference_v<T>;

}  // namespace stream
}  // namespace skua::inline SKUA_ABI
