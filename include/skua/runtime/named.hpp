// skua/runtime/named.hpp: gives a task that is to be spawned a name.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/runtime/call.hpp"

#include <string_view>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// What named() gives, for those who spawn.
template <typename Spawnable>
class named_spawnable {
public:
  /// Use named().
  named_spawnable(std::string_view name, Spawnable what) : name_(name), what_(std::move(what)) {}

  /// Borrowed, as it was given.
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  /// What is to be spawned.
  [[nodiscard]] Spawnable take() && { return std::move(what_); }

private:
  std::string_view name_;
  Spawnable what_;
};

/// `spawn(named("acceptor", accept_loop()))`: for logs, dumps and metrics. The name is copied when
/// the task is spawned, its first 23 bytes.
template <typename Spawnable>
[[nodiscard]] named_spawnable<std::remove_cvref_t<Spawnable>> named(std::string_view name,
                                                                    Spawnable&& what) {
  static_assert(callable_survives<Spawnable> || !callable_with<std::remove_cvref_t<Spawnable>&>,
                "g++ would copy this temporary's captures bitwise: spawn(named(\"name\", call(fn, "
                "args...))), or give the callable a name");
  return {name, std::forward<Spawnable>(what)};
}

}  // namespace skua::inline SKUA_ABI
