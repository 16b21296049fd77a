// skua/interop/post.hpp: lets a worker call a function, or resume a coroutine, and that is all.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/runtime/call.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/runtime.hpp"

#include <concepts>
#include <coroutine>
#include <source_location>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Tells a function from the runtime that may stand before it.
template <typename T>
concept not_a_runtime = !std::same_as<std::remove_cvref_t<T>, runtime_handle> &&
                        !std::same_as<std::remove_cvref_t<T>, runtime>;

/// Queues fn(args...) on a worker of `where` and returns at once; from any thread. Both are moved
/// along. It is a task that belongs to the runtime and nobody waits for: an exception goes to the
/// `unhandled` policy; it must not block; if the runtime has been shut down, it is destroyed
/// uncalled. For more control: where.spawn(call(fn, args...)). Throws std::bad_alloc.
template <not_a_runtime Callable, typename... Args>
void post(const runtime_handle& where, Callable&& fn, Args&&... args) {
  where.spawn(call(std::forward<Callable>(fn), std::forward<Args>(args)...)).detach();
}

/// The same on the runtime of the calling code; throws std::logic_error outside one.
template <not_a_runtime Callable, typename... Args>
void post(Callable&& fn, Args&&... args) {
  post(runtime_handle::current(), std::forward<Callable>(fn), std::forward<Args>(args)...);
}

/// Resumes a suspended coroutine of any make on a worker of `where`, once; from any thread. The
/// coroutine stays its owner's: this resumes it and nothing else. The handle tells: awaiting it
/// ends when the coroutine has suspended again or ended; `stopped` means that it was never resumed,
/// because the runtime has been shut down, or abort() came first. Throws std::bad_alloc.
inline join_handle<void> submit(const runtime_handle& where, std::coroutine_handle<> coroutine,
                                std::source_location at = std::source_location::current()) {
  return where.spawn(call([](std::coroutine_handle<> one) { one.resume(); }, coroutine), at);
}

}  // namespace skua::inline SKUA_ABI
