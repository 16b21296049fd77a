// skua/base/error.hpp: the errors std::errc has no name for, and short ways to fail with any error.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

#include <expected>
#include <source_location>
#include <system_error>
#include <type_traits>

namespace skua::inline SKUA_ABI {

/// Outcomes of normal service that no errno value describes. None equals a std::errc.
enum class errc {
  closed = 1,      ///< our side was closed: a channel, a listener, a runtime that admits no more
  end_of_stream,   ///< the other side sent everything it had before the wanted bytes were complete
  limit_exceeded,  ///< a bound set by the caller was reached: a line, a body, a queue
};

/// The category of skua::errc. Valid to the very end of the process, static destruction included.
[[nodiscard, gnu::visibility("default")]] const std::error_category& error_category() noexcept;

/// Lets a skua::errc be compared with, and become, a std::error_code.
[[nodiscard]] inline std::error_code make_error_code(errc error) noexcept {
  return {static_cast<int>(error), error_category()};
}

/// `number` is a positive errno value. The code equals the std::errc of the same name, both as a
/// condition and as a code, since both are of the generic category.
[[nodiscard]] inline std::error_code error_from_errno(
    int number, std::source_location where = std::source_location::current()) noexcept {
  check(number > 0, "an errno value is positive", where);
  return {number, std::generic_category()};
}

/// What a function that returns a result returns when it has no value: `return fail(...);`
[[nodiscard]] inline std::unexpected<std::error_code> fail(
    std::error_code code, std::source_location where = std::source_location::current()) noexcept {
  check(code.value() != 0, "a failure carries an error, not success", where);
  return std::unexpected<std::error_code>(code);
}

/// The same with an error of the standard's: `return fail(std::errc::timed_out);`
[[nodiscard]] inline std::unexpected<std::error_code> fail(
    std::errc error, std::source_location where = std::source_location::current()) noexcept {
  return fail(std::make_error_code(error), where);
}

/// The same with an error of skua's: `return fail(errc::closed);`
[[nodiscard]] inline std::unexpected<std::error_code> fail(
    errc error, std::source_location where = std::source_location::current()) noexcept {
  return fail(make_error_code(error), where);
}

}  // namespace skua::inline SKUA_ABI

template <>
struct std::is_error_code_enum<skua::errc> : std::true_type {};
