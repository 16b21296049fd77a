// skua/base/cache_line.hpp: how far apart data of different threads must lie.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI {

/// What one core takes from another at a time. Data used together fits into one.
inline constexpr std::size_t cache_line = 64;

/// Alignment for a member that other threads write: `alignas(interference_distance)`. Two lines,
/// since x86 fetches lines in aligned pairs, so that a neighbour's write would disturb us as well,
/// and some ARM cores have lines of 128. A constant of our own instead of the standard library's:
/// g++ lets -mtune change that one, and it is part of the layout of types that cross libraries.
inline constexpr std::size_t interference_distance = 2 * cache_line;

}  // namespace skua::inline SKUA_ABI
