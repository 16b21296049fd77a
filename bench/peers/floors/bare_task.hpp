// bench/peers/floors/bare_task.hpp: a coroutine and a queue, and nothing else: no thread, no error.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <exception>
#include <utility>

namespace floors {

using ready_queue = std::deque<std::coroutine_handle<>>;

inline void run_all(ready_queue& ready) {
  while (!ready.empty()) {
    const std::coroutine_handle<> next = ready.front();
    ready.pop_front();
    next.resume();
  }
}

/// Owns a frame, which begins suspended and ends with a number.
class bare_task {
public:
  struct promise_type {
    std::uint64_t value = 0;
    bare_task get_return_object() {
      return bare_task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_value(std::uint64_t what) noexcept { value = what; }
    void unhandled_exception() const noexcept { std::terminate(); }
  };

  bare_task(bare_task&& from) noexcept : frame_(std::exchange(from.frame_, nullptr)) {}
  bare_task& operator=(bare_task&&) = delete;
  ~bare_task() {
    if (frame_) frame_.destroy();
  }

  [[nodiscard]] std::coroutine_handle<> handle() const { return frame_; }
  /// When it has run.
  [[nodiscard]] std::uint64_t value() const { return frame_.promise().value; }

private:
  explicit bare_task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  std::coroutine_handle<promise_type> frame_;
};

/// To the end of the queue.
struct give_way {
  ready_queue& ready;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) const { ready.push_back(self); }
  void await_resume() const noexcept {}
};

}  // namespace floors
