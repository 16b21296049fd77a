// bench/coro/hand_made.hpp: the least a coroutine can be that gives a value or an exception.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <utility>

namespace hand_made {

/// One size, one thread-local list, no bound: what skua's recycler is measured against.
struct free_list {
  struct block {
    block* next;
  };
  static constexpr std::size_t block_size = 256;
  static inline constinit thread_local block* head = nullptr;

  static void* allocate(std::size_t size) {
    if (size > block_size) std::abort();
    block* taken = head;
    if (taken == nullptr) return std::malloc(block_size);
    head = taken->next;
    return taken;
  }
  static void free(void* memory) noexcept { head = ::new (memory) block{head}; }
};

/// A value or an exception; no context, no owner, no stop, no check.
class task {
public:
  struct promise_type {
    std::coroutine_handle<> continuation;
    std::exception_ptr thrown;
    int value;

    task get_return_object() noexcept {
      return task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(
          std::coroutine_handle<promise_type> self) const noexcept {
        return self.promise().continuation;
      }
      void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }
    void return_value(int result) noexcept { value = result; }
    void unhandled_exception() noexcept { thrown = std::current_exception(); }

    static void* operator new(std::size_t size) { return free_list::allocate(size); }
    static void operator delete(void* frame, std::size_t) noexcept { free_list::free(frame); }
  };

  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  task(task&& from) noexcept : frame_(std::exchange(from.frame_, {})) {}
  task& operator=(task&&) = delete;
  ~task() {
    if (frame_) frame_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) noexcept {
    frame_.promise().continuation = self;
    return frame_;
  }
  int await_resume() const {
    if (frame_.promise().thrown) [[unlikely]]
      std::rethrow_exception(frame_.promise().thrown);
    return frame_.promise().value;
  }

  /// Runs it to its end on this stack; it must not wait for anything.
  int run() {
    frame_.promise().continuation = std::noop_coroutine();
    frame_.resume();
    return frame_.promise().value;
  }

private:
  std::coroutine_handle<promise_type> frame_;
};

}  // namespace hand_made
