// src/base/immortal.hpp: a constant that is never destroyed.
#pragma once

#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI {

/// `constinit const immortal<T> the_one;` exists before any code runs, and outlives the destructors
/// of all static objects, which may still look at it: categories of errors, for one.
template <typename T>
union immortal {
  constexpr immortal() noexcept : value() {}
  constexpr ~immortal() {}
  T value;
};

}  // namespace skua::inline SKUA_ABI
