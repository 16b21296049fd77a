// skua/runtime/parallel_reduce.hpp: one value out of many, computed on all workers.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/task.hpp"
#include "skua/runtime/parallel_all.hpp"

#include <cstddef>
#include <ranges>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

struct as_it_is {
  template <typename Element>
  decltype(auto) operator()(Element&& one) const noexcept {
    return std::forward<Element>(one);
  }
};

/// What all parts share.
template <typename T, typename Combine, typename Change>
struct reduction {
  const T& identity;
  const Combine& combine;
  const Change& change;
  std::size_t grain;
};

/// `co_await parallel_reduce(prices, 0.0, std::plus<>());` combines all elements, in parts that run
/// on several workers at the same time. `combine(T, T)` gives a T and is associative; the order of
/// the elements is kept. `identity` combined with x gives x: each part begins with it. The range
/// stays the caller's; functions are shared by all workers, and copied once.
///
/// If a function throws, the parts that have not begun never do, and the exception is rethrown. A
/// stop unwinds when the parts that run have ended: within a part nothing looks for it.
template <std::ranges::random_access_range Range, typename T, typename Combine>
[[nodiscard]] task<T> parallel_reduce(Range& range, T identity, Combine combine) {
  return parallel_reduce(range, std::move(identity), std::move(combine), as_it_is());
}

/// The same for what `change(element)` gives for each of them.
template <std::ranges::random_access_range Range, typename T, typename Combine, typename Change>
[[nodiscard]] task<T> parallel_reduce(Range& range, T identity, Combine combine, Change change) {
  constexpr std::size_t parts = 64;  // enough for many workers to share evenly
  const auto count = static_cast<std::size_t>(std::ranges::size(range));
  const std::size_t grain = count / parts + 1;
  const reduction<T, Combine, Change> how{identity, combine, change, grain};
  co_return co_await reduce_part(std::ranges::begin(range), count, how);
}

// --- how

template <typename Iterator, typename T, typename Combine, typename Change>
task<T> reduce_part(Iterator first, std::size_t count, const reduction<T, Combine, Change>& how) {
  if (count <= how.grain) {
    T sum = how.identity;
    for (std::size_t i = 0; i < count; ++i, ++first)
      sum = how.combine(std::move(sum), how.change(*first));
    co_return sum;
  }
  const std::size_t half = count / 2;
  const auto middle = first + static_cast<std::iter_difference_t<Iterator>>(half);
  auto [low, high] =
      co_await parallel_all(reduce_part(first, half, how), reduce_part(middle, count - half, how));
  co_return how.combine(std::move(low), std::move(high));
}

}  // namespace skua::inline SKUA_ABI
