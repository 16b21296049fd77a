// skua/sync/lazy.hpp: a value that is made when it is first asked for.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/task.hpp"
#include "skua/runtime/call.hpp"
#include "skua/sync/once_cell.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// A once_cell with its initialiser:
///
///   skua::lazy shared(load_settings);             // task<settings> load_settings();
///   settings& all = co_await shared.get();
///
/// The initialiser is called without arguments, once; again if it threw or was stopped. Its result
/// is awaited if it can be. It must not ask its own lazy.
template <typename T, typename Initialiser = task<T> (*)()>
class lazy {
public:
  /// `make` is called when the value is first asked for, and awaited if it gives an awaitable.
  explicit lazy(Initialiser make) noexcept(noexcept(Initialiser(std::move(make))))
      : make_(std::move(make)) {}

  /// `co_await l.get()` gives a T&, which is there until this is destroyed.
  [[nodiscard]] task<T&> get() {
    return cell_.get_or_init([this] { return make_(); });
  }
  /// Null if nobody has got it yet.
  [[nodiscard]] T* get_if_ready() noexcept { return cell_.get(); }
  /// Null if nobody has got it yet.
  [[nodiscard]] const T* get_if_ready() const noexcept { return cell_.get(); }

private:
  Initialiser make_;  // called by one at a time
  once_cell<T> cell_;
};

/// The value is what the callable gives in the end.
template <typename Initialiser>
explicit lazy(Initialiser) -> lazy<called_t<Initialiser&>, Initialiser>;

}  // namespace skua::inline SKUA_ABI
