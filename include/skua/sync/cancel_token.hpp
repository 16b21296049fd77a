// skua/sync/cancel_token.hpp: sees, or waits, whether something was called off.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/await_unless.hpp"
#include "skua/coro/task.hpp"
#include "skua/sync/cancel_state.hpp"
#include "skua/sync/wait_line.hpp"

#include <system_error>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Given out by a cancel_source to those who are to learn of its cancel(). Copies are cheap, and
/// know the same. One that was made of nothing is never cancelled. From any thread.
class [[gnu::visibility("default")]] cancel_token {
public:
  class cancelled_wait;

  cancel_token() = default;

  /// Once true it stays true.
  [[nodiscard]] bool is_cancelled() const noexcept {
    return state_.get() != nullptr && state_.get()->is_cancelled();
  }

  /// `co_await token.wait()` goes on when it is cancelled; at once if it is. Borrows the token.
  /// Nothing is allocated, and a stop ends it at once.
  [[nodiscard]] cancelled_wait wait() const noexcept;

  /// `auto got = co_await token.guard(x);` for a task, or anything else that can be awaited: gives
  /// what x gives, in a result if it gives none, or std::errc::operation_canceled if the token was
  /// cancelled first. x is stopped then, and awaited; a value that it gives even so is given, and
  /// an exception thrown on. If the token was cancelled before, x does not begin.
  ///
  /// A stop of the task stops x, and unwinds. x and the token take turns in this task. Await it in
  /// the same expression if x is a leaf or has a name: those are borrowed.
  template <typename Awaitable>
  [[nodiscard]] auto guard(Awaitable&& awaited) const {
    return made_of<Awaitable>(
        await_guarded(*this, await_in_task(std::forward<Awaitable>(awaited))));
  }

  /// They belong to the same source.
  friend bool operator==(const cancel_token& one, const cancel_token& other) noexcept {
    return one.state_.get() == other.state_.get();
  }

private:
  friend class cancel_source;
  friend class cancel_stop_token;
  explicit cancel_token(cancel_reference to) noexcept : state_(std::move(to)) {}

  cancel_reference state_;
};

/// See cancel_token::wait().
class [[gnu::visibility("default")]] cancel_token::cancelled_wait final : public waiter {
public:
  explicit cancelled_wait(cancel_state* of) noexcept : of_(of) {}

  void await_resume() noexcept { take(); }

private:
  void start() noexcept override;
  cancel_answer cancel() noexcept override;

  cancel_state* of_;  // null: for ever
};

inline cancel_token::cancelled_wait cancel_token::wait() const noexcept {
  return cancelled_wait(state_.get());
}

// --- how

inline task<> await_cancelled(cancel_token token) {
  co_await token.wait();
}

template <typename T>
task<limited<T>> await_guarded(cancel_token token, task<T> what) {
  if (token.is_cancelled()) co_return fail(std::errc::operation_canceled);
  co_return co_await await_unless(std::move(what), await_cancelled(std::move(token)),
                                  std::errc::operation_canceled);
}

}  // namespace skua::inline SKUA_ABI
