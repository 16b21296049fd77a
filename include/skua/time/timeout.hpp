// skua/time/timeout.hpp: a limit of time for what is awaited.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/io/io_operation.hpp"

#include <concepts>
#include <type_traits>

namespace skua::inline SKUA_ABI {

/// co_await timeout(30s, io::read(fd, buffer)): the operation's own result, or std::errc::timed_out
/// if it has not ended after that time. It is then cancelled, and awaited: nothing goes on behind
/// the caller's back. One that succeeds at the last moment has succeeded; 0 or less gives it one
/// chance. Costs an entry in the driver's wheel, and no allocation.
///
/// Gives the operation itself: await it in the same expression, or give the operation a name.
template <duration_like Duration, typename Operation>
  requires std::derived_from<std::remove_cvref_t<Operation>, io_wait>
[[nodiscard]] std::remove_cvref_t<Operation>& timeout(Duration length, Operation&& op) noexcept {
  std::remove_cvref_t<Operation>& same = op;  // a name: a temporary lives as long as its expression
  same.expire_after(to_nanoseconds(length));
  return same;
}

}  // namespace skua::inline SKUA_ABI
