// skua/driver/unique_fd.hpp: a file descriptor that is closed by its owner.
#pragma once

#include "skua/base/abi.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// Owns one descriptor, or none. Closing it by the destructor may block, as close(2) may, and
/// nobody learns of an error; skua::io::close() does neither.
class [[gnu::visibility("default")]] unique_fd {
public:
  unique_fd() = default;
  /// Owns `number` from now on; -1: none.
  explicit unique_fd(int number) noexcept : number_(number) {}
  /// `from` has none then.
  unique_fd(unique_fd&& from) noexcept : number_(std::exchange(from.number_, none)) {}
  /// Closes what it has. `from` has none then.
  unique_fd& operator=(unique_fd&& from) noexcept {
    reset(from.release());
    return *this;
  }
  ~unique_fd() { reset(); }

  /// -1 if it has none.
  [[nodiscard]] int get() const noexcept { return number_; }
  /// It has one.
  explicit operator bool() const noexcept { return number_ != none; }

  /// Now the caller's.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, none); }
  /// Closes what it has, and takes another one.
  void reset(int number = none) noexcept;

private:
  static constexpr int none = -1;
  int number_ = none;
};

}  // namespace skua::inline SKUA_ABI
