// skua/base/result.hpp: a value, or the reason there is none.
#pragma once

#include "skua/base/abi.hpp"

#include <expected>
#include <system_error>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Returned by every operation that can fail in normal service (errno, timed out, closed). User
/// exceptions travel separately; programmer errors are check()ed, not returned. `value()` of a
/// failed result throws; `*` does not look, except in builds with the library's assertions on.
template <typename T>
using result = std::expected<T, std::error_code>;

/// Whether a type is a result of some value.
template <typename T>
inline constexpr bool is_result = false;
/// True for results.
template <typename T>
inline constexpr bool is_result<result<T>> = true;

/// Throws std::system_error with `code`; what() is the message, after `what` and a colon if given.
[[noreturn, gnu::visibility("default"), gnu::cold]] void throw_error(const std::error_code& code,
                                                                     const char* what);

/// The value of `from`, or a thrown std::system_error that carries its code.
template <typename T>
T or_throw(result<T> from, const char* what = nullptr) {
  if (!from.has_value()) [[unlikely]]
    throw_error(from.error(), what);
  if constexpr (!std::is_void_v<T>) return std::move(*from);
}

}  // namespace skua::inline SKUA_ABI
