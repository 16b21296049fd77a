// skua/runtime/start_error.hpp: why a runtime did not start.
#pragma once

#include "skua/base/abi.hpp"

#include <array>
#include <string_view>
#include <system_error>

namespace skua::inline SKUA_ABI {

/// A setting that makes no sense, or something that the system refused. Nothing is left behind.
class start_error {
public:
  /// A message that is too long is cut off.
  start_error(std::error_code code, std::string_view message) noexcept : code_(code) {
    length_ = message.copy(text_.data(), text_.size());
  }

  /// invalid_argument for a bad setting; otherwise what the system said.
  [[nodiscard]] std::error_code code() const noexcept { return code_; }

  /// A sentence that names the setting, or what was refused.
  [[nodiscard]] std::string_view message() const noexcept { return {text_.data(), length_}; }

private:
  std::error_code code_;
  std::size_t length_ = 0;
  std::array<char, 160> text_;
};

}  // namespace skua::inline SKUA_ABI
