// skua/io/fd_ref.hpp: whose number an operation is about.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/io/io_operation.hpp"

namespace skua::inline SKUA_ABI::io {

class descriptor;

/// A parameter: a raw number, which its user keeps open for as long as an operation on it is under
/// way, or a descriptor, which sees to that itself. Borrows.
class [[gnu::visibility("default")]] fd_ref {
public:
  /// A raw number, which the caller keeps open.
  fd_ref(int raw) noexcept : number_(raw) {}  // not explicit: both are passed as they are
  /// A descriptor, which counts what is under way.
  fd_ref(const descriptor& of) noexcept;

  /// The raw number.
  [[nodiscard]] int number() const noexcept { return number_; }
  /// Null for a raw number.
  [[nodiscard]] const descriptor* of() const noexcept { return of_; }

  /// A request about it.
  [[nodiscard]] op_request request(op_code code) const noexcept;

private:
  int number_;
  const descriptor* of_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI::io
