// skua/coro/promise_base.hpp: what every skua coroutine has: its place in an await chain.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/context_base.hpp"
#include "skua/coro/recycler.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <type_traits>

namespace skua::inline SKUA_ABI {

/// Hands over from one frame of a context to another. To be returned from await_suspend.
inline auto transfer_to(context_base& context, frame_handle next) noexcept {
  if constexpr (uses_trampoline)
    context.resume_point = next;  // the context's loop goes on with it
  else
    return std::coroutine_handle<>(next);
}

/// The start of every promise, at a fixed offset in every frame (so no promise is over-aligned), so
/// that dumps, debuggers and unwinding can walk the chain without knowing any result type:
///   word 0  continuation  the frame that awaits this one; null for a root.
///   word 1  context       the context this frame runs in; set when the frame is first awaited.
///   word 2  owner         the slot that owns this frame, nulled when unwinding destroys it first;
///                         null once the frame is given up in the middle, see give_up().
struct promise_base {
  frame_handle continuation;
  context_base* context;
  frame_handle* owner;

  /// Sets nothing but `continuation`: the rest is set when the frame is hooked into a chain, and
  /// read only there.
  promise_base() noexcept {}  // NOLINT(cppcoreguidelines-pro-type-member-init)

  /// Hooks `child` under this frame and gives it this frame's context: two stores and the owner.
  void adopt(frame_handle& child) noexcept {
    promise_base& its = child.promise();
    its.continuation = frame_handle::from_promise(*this);
    its.context = context;
    its.owner = &child;
  }

  /// To be called before a frame is destroyed that has started and not reached its end.
  void give_up() noexcept { owner = nullptr; }

  /// For unhandled_exception(). A destructor that throws while its frame is destroyed comes here as
  /// if the body had thrown, and the coroutine would go on to its end: that is refused.
  void only_while_running() const noexcept {
    if (owner == nullptr) std::terminate();
  }

  /// Goes on with whoever awaits this frame; at the root, tells the run function that it ended.
  auto hand_back() noexcept {
    if constexpr (uses_trampoline) {
      if (continuation)
        context->resume_point = continuation;
      else
        context->now = phase::ended;
    } else {
      if (continuation) [[likely]]
        return std::coroutine_handle<>(continuation);
      context->now = phase::ended;
      return std::coroutine_handle<>(std::noop_coroutine());
    }
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  class final_awaiter {
  public:
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      return self.promise().hand_back();
    }
    void await_resume() const noexcept {}
  };
  final_awaiter final_suspend() const noexcept { return {}; }

  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }
};

static_assert(std::is_standard_layout_v<promise_base> && sizeof(promise_base) == 3 * sizeof(void*));

/// The handle of any skua coroutine, as the base sees it.
template <typename Promise>
frame_handle to_frame(std::coroutine_handle<Promise> handle) noexcept {
  static_assert(std::is_base_of_v<promise_base, Promise>,
                "this can be awaited only in a skua coroutine (skua::task, skua::async_generator)");
  static_assert(alignof(Promise) <= 2 * sizeof(void*),
                "a promise with a larger alignment would lie elsewhere in its frame");
  return frame_handle::from_address(handle.address());
}

}  // namespace skua::inline SKUA_ABI
