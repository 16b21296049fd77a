// skua/coro/foreign.hpp: awaits what was written for any coroutine, and comes back to the executor.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/leaf.hpp"

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// A small coroutine that completes `waiting` when it is resumed, and then destroys itself.
/// Throws std::bad_alloc.
[[nodiscard, gnu::visibility("default")]] std::coroutine_handle<> make_resumer(leaf& waiting);

/// Wraps an awaitable that takes a plain std::coroutine_handle<> and may resume it on any thread.
/// It knows nothing of stopping: a task asked to stop while in it waits until it resumes. It has to
/// resume what it was given, in the end: a handle that it destroys or forgets leaves the task
/// waiting for ever, as with any coroutine.
template <typename Awaitable>
class foreign_awaiter final : public leaf {
public:
  explicit foreign_awaiter(Awaitable&& awaitable)
      : inner_(awaiter_of(std::forward<Awaitable>(awaitable))) {}

  bool await_ready() { return inner_.await_ready(); }

  decltype(auto) await_resume() {
    if (thrown_) [[unlikely]]
      std::rethrow_exception(std::move(thrown_));
    return inner_.await_resume();
  }

private:
  void start() noexcept override {
    std::coroutine_handle<> resumer;
    std::coroutine_handle<> next;
    try {
      resumer = make_resumer(*this);
      next = suspend_inner(resumer);
    } catch (...) {  // as if thrown in the task, which counts as never suspended
      thrown_ = std::current_exception();
      if (resumer) resumer.destroy();
      return complete();
    }
    next.resume();
  }

  /// What is to be resumed at once; a coroutine that does nothing if the awaiter just suspended.
  std::coroutine_handle<> suspend_inner(std::coroutine_handle<> resumer) {
    using answer = decltype(inner_.await_suspend(resumer));
    if constexpr (std::is_void_v<answer>) {
      inner_.await_suspend(resumer);
      return std::noop_coroutine();
    } else if constexpr (std::is_same_v<answer, bool>) {
      return inner_.await_suspend(resumer) ? std::noop_coroutine() : resumer;
    } else {
      return inner_.await_suspend(resumer);
    }
  }

  cancel_answer cancel() noexcept override { return cancel_answer::pending; }

  awaiter_t<Awaitable> inner_;
  std::exception_ptr thrown_;
};

}  // namespace skua::inline SKUA_ABI
