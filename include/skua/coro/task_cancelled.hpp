// skua/coro/task_cancelled.hpp: thrown to whoever wants the value of a task that was cancelled.
#pragma once

#include "skua/base/abi.hpp"

#include <exception>

namespace skua::inline SKUA_ABI {

/// Never thrown inside the cancelled task itself: that one unwinds without an exception. A task
/// that ends with it counts as cancelled if it was asked to stop, too, or if all around it are (a
/// shutdown, a block_on() that failed); otherwise it ends with an exception like any other.
class [[gnu::visibility("default")]] task_cancelled : public std::exception {
public:
  /// Always the same text.
  const char* what() const noexcept override;
};

}  // namespace skua::inline SKUA_ABI
