// skua/runtime/key_number.hpp: makes a well mixed number of a key.
#pragma once

#include "skua/base/abi.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace skua::inline SKUA_ABI {

/// Keys that are equal give the same number within a process. Strings of all types are one: a
/// std::string and a literal with the same text are equal.
template <typename Key>
[[nodiscard]] std::uint64_t key_number(const Key& key) {
  std::uint64_t number = 0;
  if constexpr (std::is_convertible_v<const Key&, std::string_view>)
    number = std::hash<std::string_view>()(std::string_view(key));
  else
    number = std::hash<Key>()(key);
  // std::hash leaves integers as they are: neighbours have to become strangers.
  constexpr std::uint64_t odd_1 = 0xd6e8feb86659fd93;
  constexpr std::uint64_t odd_2 = 0xcf1bbcdcb7a56463;
  number = (number ^ (number >> 32U)) * odd_1;
  number = (number ^ (number >> 29U)) * odd_2;
  return number ^ (number >> 32U);
}

}  // namespace skua::inline SKUA_ABI
