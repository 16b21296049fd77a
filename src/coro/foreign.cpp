// src/coro/foreign.cpp: the coroutine that stands in for a task while it awaits something foreign.
#include "skua/coro/foreign.hpp"

#include "skua/coro/recycler.hpp"

#include <exception>

namespace skua::inline SKUA_ABI {
namespace {

struct resumer {
  struct promise_type {
    std::coroutine_handle<> get_return_object() noexcept {
      return std::coroutine_handle<promise_type>::from_promise(*this);
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    // Destroys itself: the task that it wakes may end before this coroutine does.
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }
  };

  // NOLINTNEXTLINE(google-explicit-constructor)
  resumer(std::coroutine_handle<> frame) noexcept : handle(frame) {}
  std::coroutine_handle<> handle;
};

resumer complete_when_resumed(leaf* waiting) {
  waiting->complete();
  co_return;
}

}  // namespace

std::coroutine_handle<> make_resumer(leaf& waiting) {
  return complete_when_resumed(&waiting).handle;
}

}  // namespace skua::inline SKUA_ABI
