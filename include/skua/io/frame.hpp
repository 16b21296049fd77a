// skua/io/frame.hpp: one message of a byte stream, as it lies in a buffer.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace skua::inline SKUA_ABI {

/// The bytes of one frame: a view, valid for as long as whoever gave it says.
class frame {
public:
  /// Made by framed and buffered_reader.
  explicit frame(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  /// Without what delimits it. Borrowed from the buffer.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// The same bytes as text; whether it is any is not checked.
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

private:
  std::span<const std::byte> bytes_;
};

}  // namespace skua::inline SKUA_ABI
