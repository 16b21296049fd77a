// tests/support/errors.hpp: the error of a result, for a test that expects one.
#pragma once

#include "skua/base/result.hpp"

#include <system_error>

namespace skua_test {

/// That of success, if it has a value: a test that is wrong about it fails, and does not crash.
template <typename T>
std::error_code error_of(const skua::result<T>& from) {
  return from ? std::error_code() : from.error();
}

}  // namespace skua_test
