// skua/coro/task.hpp: a lazy coroutine with one awaiter.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/awaiting_promise.hpp"
#include "skua/coro/outcome.hpp"

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

template <typename T = void>
class task;

/// The result part of a task's promise; its chain part is in promise_base.
template <typename T>
class task_promise : public awaiting_promise {
public:
  static_assert(
      alignof(std::conditional_t<std::is_object_v<T>, T, char>) <= 2 * sizeof(void*),
      "compilers do not over-align coroutine frames: return a std::unique_ptr to this type");

  task<T> get_return_object() noexcept;
  void unhandled_exception() noexcept {
    only_while_running();
    result_.set_exception(std::current_exception());
  }

  // A reference is bound to an lvalue only: a temporary would be gone before anybody reads it.
  template <typename U = T>
    requires(std::is_convertible_v<U &&, T> &&
             (!std::is_lvalue_reference_v<T> || std::is_lvalue_reference_v<U>))
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U&&>) {
    result_.set_value(std::forward<U>(value));
  }

  outcome<T>& result() noexcept { return result_; }

private:
  outcome<T> result_;
};

template <>
class [[gnu::visibility("default")]] task_promise<void> : public awaiting_promise {
public:
  task<void> get_return_object() noexcept;
  void unhandled_exception() noexcept {
    only_while_running();
    result_.set_exception(std::current_exception());
  }
  void return_void() noexcept { result_.set_value(); }
  outcome<void>& result() noexcept { return result_; }

private:
  outcome<void> result_;
};

/// Runs nothing until it is awaited (`co_await std::move(t)`, or a call in place), spawned or given
/// to sync_wait(). Gives a T, a T& or nothing; an exception travels to whoever awaits.
/// Dropping a task that was never started destroys its arguments and runs nothing.
template <typename T>
class [[nodiscard("a task does nothing until it is awaited or spawned")]] task {
public:
  using promise_type = task_promise<T>;
  /// Its frame.
  using handle = std::coroutine_handle<promise_type>;
  /// What awaiting it gives.
  using value_type = T;
  using awaited_as_rvalue_tag = void;

  /// Takes a frame that has not started.
  explicit task(handle frame) noexcept : frame_(frame) {}
  /// `from` is empty then.
  task(task&& from) noexcept : frame_(std::exchange(from.frame_, {})) {}
  /// A frame that it had is destroyed, unstarted.
  task& operator=(task&& from) noexcept {
    if (this != &from) {
      if (frame_) frame_.destroy();
      frame_ = std::exchange(from.frame_, {});
    }
    return *this;
  }
  ~task() {
    if (frame_) frame_.destroy();
  }

  /// Owns the child while it runs: its frame ends with the await, not with the parent's scope.
  class awaiter {
  public:
    using skua_awaiter_tag = void;

    explicit awaiter(handle child) noexcept : child_(to_frame(child)) {}
    awaiter(const awaiter&) = delete;
    awaiter& operator=(const awaiter&) = delete;
    ~awaiter() {
      if (child_) child_.destroy();
    }

    bool await_ready() const noexcept { return false; }

    template <typename Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) noexcept {
      to_frame(self).promise().adopt(child_);
      return transfer_to(*self.promise().context, child_);
    }

    T await_resume() {
      outcome<T>& result = handle::from_address(child_.address()).promise().result();
      if (!result.has_value()) [[unlikely]]
        rethrow();
      if constexpr (std::is_void_v<T>) {
        end_child();
      } else {
        T value = std::move(result).value();  // if this throws, the destructor ends the child
        end_child();
        return value;
      }
    }

  private:
    // Forgets the child last: then the compiler knows that the destructor has nothing to do.
    void end_child() noexcept {
      child_.destroy();
      child_ = {};
    }

    // Without an argument, so that nothing of it is prepared where the value is read.
    [[noreturn, gnu::cold, gnu::noinline]] void rethrow() {
      auto thrown = handle::from_address(child_.address()).promise().result().exception();
      check(thrown != nullptr, "a task<T> ends with co_return; this one ran off its end");
      end_child();
      throw_missing_value(std::move(thrown));
    }

    frame_handle child_;
  };

  /// `co_await std::move(t)` or `co_await f()`: starts it, on the same thread, and gives what it
  /// returns or throws. Once.
  awaiter operator co_await() && noexcept { return awaiter(release()); }

  /// Gives the frame away, not yet started; the caller owns it.
  handle release() noexcept {
    check(valid(), "a task is awaited or spawned once; this one was moved from");
    return std::exchange(frame_, {});
  }

  /// The frame, which stays the task's own. Null once it was awaited, spawned or moved from.
  [[nodiscard]] handle frame() const noexcept { return frame_; }

  /// False once it was awaited, spawned or moved from.
  // By conversion, not by ==: argument-dependent lookup would try every == of T's.
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(frame_); }

private:
  handle frame_;
};

template <typename T>
task<T> task_promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}
inline task<void> task_promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace skua::inline SKUA_ABI
