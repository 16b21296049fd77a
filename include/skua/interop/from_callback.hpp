// skua/interop/from_callback.hpp: awaits what calls back when it is done.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/callable_survives.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/interop/callback.hpp"

#include <exception>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

struct ask_nobody {
  void operator()() const noexcept {}
};

/// The wait of from_callback().
template <typename T, typename Start, typename Cancel>
class [[nodiscard("nothing is started until it is awaited")]] callback_wait final : public leaf {
public:
  template <typename S, typename C>
  callback_wait(S&& start, C&& cancel, bool may_abandon)
      : start_(std::forward<S>(start)),
        cancel_(std::forward<C>(cancel)),
        may_abandon_(may_abandon),
        state_(new callback_result<T>) {}
  ~callback_wait() { state_->drop_task(); }

  T await_resume() { return std::move(state_->result).value(); }

private:
  void start() noexcept override {
    check(state_->waiting == nullptr, "a from_callback() is awaited once");
    state_->waiting = this;
    // Kept until the end, so that an exception comes before the loss of what was thrown away by it.
    const callback<T> mine(*state_);
    try {
      start_(callback<T>(mine));
    } catch (...) {
      if (!state_->abandon()) return;  // it has called back before
      state_->result.set_exception(std::current_exception());
      complete();
    }
  }

  cancel_answer cancel() noexcept override {
    cancel_();
    return may_abandon_ && state_->abandon() ? cancel_answer::detached : cancel_answer::pending;
  }

  Start start_;
  Cancel cancel_;
  const bool may_abandon_;
  callback_result<T>* const state_;
};

/// `int n = co_await from_callback<int>([&](callback<int> done) { begin_read(fd, buffer, done);
/// })`: calls `start` when awaited, on the task's worker, and waits until somebody calls the
/// callback: at once, within `start`, or later, from any thread. Gives the value; throws what
/// callback::fail() was given, what `start` has thrown, or std::runtime_error if the callback was
/// dropped uncalled.
///
/// Stopped: waits for the callback all the same, so that `start` may lend what the task owns; the
/// value that comes beats the stop. With `cancel`, asks by that first, on the thread that stops
/// the task, and then waits; `cancel` is called at most once, after `start` or while that is about
/// to return, perhaps while the callback is called. A source that then never calls back holds the
/// task for ever: see abandonable_callback().
///
/// Awaited in the expression that makes it, once. One allocation.
template <typename T, typename Start, typename Cancel = ask_nobody>
auto from_callback(Start&& start, Cancel&& cancel = Cancel()) {
  static_assert(callable_survives<Start> && callable_survives<Cancel>,
                "g++ would copy this temporary's captures bitwise: capture by reference, or give "
                "the callable a name");
  static_assert(std::is_nothrow_invocable_v<std::decay_t<Cancel>&>,
                "what asks a source to give up must not throw: say noexcept");
  return callback_wait<T, std::decay_t<Start>, std::decay_t<Cancel>>(
      std::forward<Start>(start), std::forward<Cancel>(cancel), false);
}

/// The same, but a task that is stopped goes on (after `cancel`) without waiting. A callback that
/// comes late, or never, is harmless then; whatever else `start` lent is not: give it only what
/// it owns, or shares.
template <typename T, typename Start, typename Cancel = ask_nobody>
auto abandonable_callback(Start&& start, Cancel&& cancel = Cancel()) {
  static_assert(callable_survives<Start> && callable_survives<Cancel>,
                "g++ would copy this temporary's captures bitwise: capture by reference, or give "
                "the callable a name");
  static_assert(std::is_nothrow_invocable_v<std::decay_t<Cancel>&>,
                "what asks a source to give up must not throw: say noexcept");
  return callback_wait<T, std::decay_t<Start>, std::decay_t<Cancel>>(
      std::forward<Start>(start), std::forward<Cancel>(cancel), true);
}

}  // namespace skua::inline SKUA_ABI
