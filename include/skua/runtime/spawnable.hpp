// skua/runtime/spawnable.hpp: turns whatever can be spawned into a root and its description.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/task.hpp"
#include "skua/runtime/call.hpp"
#include "skua/runtime/named.hpp"
#include "skua/runtime/spawned_task.hpp"

#include <concepts>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// A task, any awaitable that can be moved into one, or a callable without arguments.
template <typename Spawnable>
auto to_task(Spawnable&& what) {
  using plain = std::remove_cvref_t<Spawnable>;
  if constexpr (awaitable<Spawnable> || awaited_as_rvalue<plain>) {
    static_assert(!std::is_lvalue_reference_v<Spawnable>,
                  "a spawned task owns what it awaits: pass std::move(x)");
    static_assert(std::move_constructible<plain>,
                  "a spawned task owns what it awaits, and this cannot be moved: await it in a "
                  "coroutine, and spawn that");
    if constexpr (is_task<plain>)
      return std::forward<Spawnable>(what);
    else
      return await_owned<plain>(std::forward<Spawnable>(what));
  } else {
    static_assert(callable_with<plain&>,
                  "this cannot be spawned: it is no task, cannot be awaited, and is not a callable "
                  "without arguments");
    return call_owned<plain>(std::forward<Spawnable>(what));
  }
}

/// False for a temporary callable that g++ 12 would copy bit by bit in a co_await expression.
template <typename Spawnable>
concept spawnable_survives =
    awaitable<Spawnable> || awaited_as_rvalue<std::remove_cvref_t<Spawnable>> ||
    !callable_with<std::remove_cvref_t<Spawnable>&> || callable_survives<Spawnable>;

template <typename Spawnable>
struct task_named_by {
  static constexpr bool is_named = false;
};
template <typename Spawnable>
struct task_named_by<named_spawnable<Spawnable>> {
  static constexpr bool is_named = true;
};

/// Owns a root until the runtime has accepted it.
template <typename T>
class spawn_order {
public:
  spawn_order(task<T> root, std::source_location where, std::string_view name)
      : root_(std::move(root)), where_(where), name_(name) {}

  /// `accept` takes a spawn_request and gives a task_cell*: null or an exception if it did not take
  /// the root, which is destroyed then.
  template <typename Accept>
  task_cell* hand_to(Accept&& accept) {
    task_cell* const cell = accept(request());
    if (cell != nullptr) accepted();
    return cell;
  }

  [[nodiscard]] spawn_request request() const {
    check(root_.valid(), "a task is awaited or spawned once; this one was moved from");
    return {to_frame(root_.frame()), &result_of<T>::operations, where_, name_};
  }
  void accepted() noexcept { static_cast<void>(root_.release()); }

private:
  task<T> root_;
  std::source_location where_;
  std::string_view name_;
};

/// `wrap` makes of the task that `what` is the one that is spawned, under the same name.
template <typename Spawnable, typename Wrap>
auto wrapped_order(Spawnable&& what, std::source_location where, Wrap&& wrap) {
  if constexpr (task_named_by<std::remove_cvref_t<Spawnable>>::is_named) {
    const std::string_view name = what.name();
    return spawn_order(wrap(to_task(std::forward<Spawnable>(what).take())), where, name);
  } else {
    return spawn_order(wrap(to_task(std::forward<Spawnable>(what))), where, std::string_view());
  }
}

/// For what is called outside of coroutines.
template <typename Spawnable>
auto order_for_root(Spawnable&& what, std::source_location where) {
  return wrapped_order(std::forward<Spawnable>(what), where, [](auto root) { return root; });
}

/// For what may stand in a co_await expression.
template <typename Spawnable, typename Wrap>
auto order_for_wrapped(Spawnable&& what, std::source_location where, Wrap&& wrap) {
  static_assert(spawnable_survives<Spawnable>,
                "g++ would copy this temporary's captures bitwise: pass them as arguments, "
                "(fn, args...), or give the callable a name");
  return wrapped_order(std::forward<Spawnable>(what), where, wrap);
}
template <typename Spawnable>
auto order_for(Spawnable&& what, std::source_location where) {
  return order_for_wrapped(std::forward<Spawnable>(what), where, [](auto root) { return root; });
}

/// The T of the join_handle<T> that spawning gives.
template <typename Spawnable>
struct spawned_as {
  using type = typename decltype(to_task(std::declval<Spawnable>()))::value_type;
};
template <typename Spawnable>
struct spawned_as<named_spawnable<Spawnable>> : spawned_as<Spawnable> {};
template <typename Spawnable>
using spawned_t =
    typename spawned_as<std::conditional_t<task_named_by<std::remove_cvref_t<Spawnable>>::is_named,
                                           std::remove_cvref_t<Spawnable>, Spawnable>>::type;

}  // namespace skua::inline SKUA_ABI
