// src/fs/in_pool.hpp: calls that block, on a thread of the pool; without one, an error.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/coro/task.hpp"
#include "skua/runtime/spawn_blocking.hpp"

#include <system_error>
#include <type_traits>

namespace skua::inline SKUA_ABI::fs {

/// `fn(args...)`, which gives a result. Arguments are small: numbers, pointers to what the awaiting
/// task keeps. Stopped before it has begun: the call is not made. Stopped later: waits for its end.
template <typename Function, typename... Args>
task<std::invoke_result_t<Function, Args...>> in_pool(Function fn, Args... args) {
  static_assert((std::is_trivially_copyable_v<Args> && ...));
  std::error_code refused;
  try {
    co_return co_await spawn_blocking(fn, args...);
  } catch (const std::system_error& no_thread) {
    refused = no_thread.code();
  }
  co_return fail(refused);
}

}  // namespace skua::inline SKUA_ABI::fs
