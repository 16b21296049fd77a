// bench/runtime/hand_made.hpp: the least a scheduler can be: one thread, one std::deque.
#pragma once

#include "coro/hand_made.hpp"

#include <coroutine>
#include <cstddef>
#include <deque>
#include <exception>
#include <utility>

namespace hand_made {

/// First in, first out; no threads, no stop, no budget, no driver, nobody to wake.
class scheduler {
public:
  void push(std::coroutine_handle<> ready) { ready_.push_back(ready); }
  void run() {
    while (!ready_.empty()) {
      const std::coroutine_handle<> next = ready_.front();
      ready_.pop_front();
      next.resume();
    }
  }

private:
  std::deque<std::coroutine_handle<>> ready_;
};

/// `co_await gives_way(here)`: to the end of the queue.
class gives_way {
public:
  explicit gives_way(scheduler& here) noexcept : here_(here) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) const { here_.push(self); }
  void await_resume() const noexcept {}

private:
  scheduler& here_;
};

/// Set by one, waited for by one, on the same thread.
class event {
public:
  explicit event(scheduler& here) noexcept : here_(here) {}
  void set() {
    if (waiter_)
      here_.push(std::exchange(waiter_, {}));
    else
      is_set_ = true;
  }
  bool await_ready() noexcept { return std::exchange(is_set_, false); }
  void await_suspend(std::coroutine_handle<> self) noexcept { waiter_ = self; }
  void await_resume() const noexcept {}

private:
  scheduler& here_;
  std::coroutine_handle<> waiter_;
  bool is_set_ = false;
};

/// A task that is queued when it is made. Its first parameter is the scheduler. Gives a value or an
/// exception to the one that awaits it.
class spawned {
public:
  struct promise_type {
    template <typename... Args>
    explicit promise_type(scheduler& where, Args&&...) noexcept : here(where) {}

    spawned get_return_object() {
      const auto self = std::coroutine_handle<promise_type>::from_promise(*this);
      here.push(self);
      return spawned(self);
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
        promise_type& promise = self.promise();
        promise.done = true;
        if (promise.waiter) promise.here.push(promise.waiter);
      }
      void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }
    void return_value(unsigned long result) noexcept { value = result; }
    void unhandled_exception() noexcept { thrown = std::current_exception(); }

    static void* operator new(std::size_t size) { return free_list::allocate(size); }
    static void operator delete(void* frame, std::size_t) noexcept { free_list::free(frame); }

    scheduler& here;
    std::coroutine_handle<> waiter;
    std::exception_ptr thrown;
    unsigned long value = 0;
    bool done = false;
  };

  explicit spawned(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  spawned(spawned&& from) noexcept : frame_(std::exchange(from.frame_, {})) {}
  spawned& operator=(spawned&&) = delete;
  ~spawned() {
    if (frame_) frame_.destroy();
  }

  bool await_ready() const noexcept { return frame_.promise().done; }
  void await_suspend(std::coroutine_handle<> self) noexcept { frame_.promise().waiter = self; }
  unsigned long await_resume() const {
    if (frame_.promise().thrown) [[unlikely]]
      std::rethrow_exception(frame_.promise().thrown);
    return frame_.promise().value;
  }

private:
  std::coroutine_handle<promise_type> frame_;
};

/// One that nobody waits for.
struct detached {
  struct promise_type {
    template <typename... Args>
    explicit promise_type(scheduler& here, Args&&...) {
      here.push(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    detached get_return_object() const noexcept { return {}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }

    static void* operator new(std::size_t size) { return free_list::allocate(size); }
    static void operator delete(void* frame, std::size_t) noexcept { free_list::free(frame); }
  };
};

/// Runs `Root(here, rounds)` and all it spawns to the end.
template <auto Root>
unsigned long run(int rounds) {
  scheduler here;
  const spawned root = Root(here, rounds);
  here.run();
  return root.await_resume();
}

}  // namespace hand_made
