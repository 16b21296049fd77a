// skua/base/check.hpp: always-on checks for programmer errors; a failed check aborts.
#pragma once

#include "skua/base/abi.hpp"

#include <source_location>

namespace skua::inline SKUA_ABI {

/// Prints where and which invariant broke to standard error, then aborts.
[[noreturn, gnu::visibility("default"), gnu::cold]] void check_failed(
    const char* invariant, std::source_location where) noexcept;

/// Aborts unless `holds`. `invariant` states what is true, in words, not the expression again.
/// Stays on in release builds; put nothing expensive in the argument. `where` goes by value: a
/// reference would give each check in a coroutine a place in its frame.
inline void check(bool holds, const char* invariant,
                  std::source_location where = std::source_location::current()) noexcept {
  if (!holds) [[unlikely]]
    check_failed(invariant, where);
}

}  // namespace skua::inline SKUA_ABI
