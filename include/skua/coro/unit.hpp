// skua/coro/unit.hpp: a value for what gives none, where several results stand side by side.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/outcome.hpp"

#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Equal to every other.
struct unit {
  /// Always true.
  bool operator==(const unit&) const = default;
};

/// `unit` for void, and any other type itself.
template <typename T>
using value_or_unit = std::conditional_t<std::is_void_v<T>, unit, T>;

/// The value; throws what the outcome has instead.
template <typename T>
value_or_unit<T> take_value(outcome<T> from) {
  if constexpr (std::is_void_v<T>) {
    std::move(from).value();
    return unit();
  } else {
    return std::move(from).value();
  }
}

}  // namespace skua::inline SKUA_ABI
