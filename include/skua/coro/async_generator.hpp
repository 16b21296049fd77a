// skua/coro/async_generator.hpp: a sequence whose coroutine may co_await between its values.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/awaiting_promise.hpp"
#include "skua/coro/yielded_copy.hpp"

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `while (auto item = co_await numbers.next()) use(*item);`
///
/// The body runs inside the consumer's task, from one co_yield to the next. An exception in it
/// leaves next(), after which the generator has ended. If the task is stopped inside the body, the
/// body unwinds first and the consumer after it. A next() that loses a race was stopped: the
/// generator has ended, or has just given a value that nobody got. To select on a stream, let
/// a task send it through a channel. Dropping a generator destroys the body's locals where it
/// stands; nothing is awaited.
template <typename T>
class [[nodiscard("a generator does nothing until next() is awaited")]] async_generator {
  using object = std::remove_reference_t<T>;

public:
  /// What it yields; a reference if it yields references.
  using value_type = T;
  /// A value, or a pointer if T is a reference; empty at the end.
  using item = std::conditional_t<std::is_reference_v<T>, object*, std::optional<T>>;

  class promise_type : public awaiting_promise {
  public:
    async_generator get_return_object() noexcept {
      return async_generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept {
      only_while_running();
      thrown_ = std::current_exception();
    }

    final_awaiter yield_value(T&& value) noexcept {
      show(value);
      return {};
    }
    auto yield_value(const T& value)
      requires(!std::is_reference_v<T>)
    {
      return yielded_copy<T, final_awaiter>(value);
    }

    void show(object& value) noexcept { shown_ = std::addressof(value); }
    [[nodiscard]] object& shown() const noexcept { return *shown_; }
    std::exception_ptr take_exception() noexcept { return std::exchange(thrown_, nullptr); }

    bool busy = false;  ///< A next() is under way.

  private:
    object* shown_ = nullptr;
    std::exception_ptr thrown_;
  };

  class next_awaiter {
  public:
    using skua_awaiter_tag = void;

    explicit next_awaiter(async_generator& from) noexcept : from_(from) {}
    next_awaiter(const next_awaiter&) = delete;
    next_awaiter& operator=(const next_awaiter&) = delete;

    bool await_ready() const noexcept { return from_.frame_ == nullptr; }

    template <typename Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) noexcept {
      promise_type& generator = from_.promise();
      check(!generator.busy, "one next() of a generator at a time");
      generator.busy = true;
      to_frame(self).promise().adopt(from_.frame_);
      return transfer_to(*self.promise().context, from_.frame_);
    }

    item await_resume() {
      if (from_.frame_ == nullptr) return item();
      from_.promise().busy = false;
      if (from_.frame_.done()) return from_.end();
      if constexpr (std::is_reference_v<T>)
        return std::addressof(from_.promise().shown());
      else
        return item(std::move(from_.promise().shown()));
    }

  private:
    async_generator& from_;
  };

  /// `from` has ended. Not while next() of it is awaited, which is checked.
  async_generator(async_generator&& from) noexcept : frame_(from.frame_) {
    check_idle();
    from.frame_ = {};
  }
  /// The body that it had is destroyed where it stands. Neither may be in a next(), which is
  /// checked.
  async_generator& operator=(async_generator&& from) noexcept {
    check_idle();
    async_generator old(std::move(from));
    std::swap(frame_, old.frame_);
    return *this;
  }
  ~async_generator() {
    if (!frame_) return;
    check_idle();
    promise().give_up();
    frame_.destroy();
  }

  /// Awaits the next value. The generator must be neither moved nor dropped meanwhile.
  [[nodiscard]] next_awaiter next() noexcept { return next_awaiter(*this); }

private:
  explicit async_generator(std::coroutine_handle<promise_type> frame) noexcept
      : frame_(to_frame(frame)) {}

  promise_type& promise() const noexcept {
    return std::coroutine_handle<promise_type>::from_address(frame_.address()).promise();
  }

  void check_idle() const noexcept {
    check(!frame_ || !promise().busy, "a generator stays where it is while a next() is under way");
  }

  item end() {
    const std::exception_ptr thrown = promise().take_exception();
    std::exchange(frame_, {}).destroy();
    if (thrown) std::rethrow_exception(thrown);
    return item();
  }

  frame_handle frame_;
};

}  // namespace skua::inline SKUA_ABI
