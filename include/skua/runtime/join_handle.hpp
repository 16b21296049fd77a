// skua/runtime/join_handle.hpp: the hold on a spawned task: await it, stop it, or let it go.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/yield.hpp"
#include "skua/runtime/spawned_task.hpp"

#include <coroutine>
#include <cstdint>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Waits until a task has ended. Cancelling it ends the wait, not the task.
class [[gnu::visibility("default")]] join_wait : public leaf {
public:
  explicit join_wait(task_cell& whom) noexcept : whom_(whom) {}

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (spawned_task::done(whom_)) return !take_from_budget(to_frame(self));
    if (spawned_task::run_in_place(whom_, to_frame(self))) return false;
    leaf::await_suspend(self);
    return true;
  }
  void await_resume() const noexcept;  // where the handle is kept

protected:
  ~join_wait() = default;

private:
  void start() noexcept override;
  cancel_answer cancel() noexcept override;

  task_cell& whom_;
};

/// The hold of `auto handle = spawn(...)`. One owner; from any thread, one at a time. Dropping it
/// lets the task run on by itself (detaches it). It may outlive the runtime. A task that is ready
/// when it is awaited, and would run next on this worker or was the last to be queued there, runs
/// at once, in the awaiting task's turn: a stop of that task then comes to it when the other one
/// waits, gives way or has ended.
///
/// `co_await std::move(handle)` gives the value, rethrows the task's exception, or throws
/// task_cancelled if the task was stopped. If the waiting task is stopped itself the wait ends, and
/// the task that was waited for is detached: use wait() to keep the handle.
template <typename T>
class join_handle {
public:
  /// What awaiting it gives.
  using value_type = T;
  using awaited_as_rvalue_tag = void;

  /// For those who spawn.
  explicit join_handle(task_cell& whom) noexcept : hold_(&whom) {}

  /// False once it was awaited, detached or moved from. All functions below ask for true, except
  /// detach().
  [[nodiscard]] bool valid() const noexcept { return hold_.get() != nullptr; }

  /// Asks the task to stop: it unwinds at the leaf it waits in, or at the next it comes to; one
  /// that has not started never will. True for the first to ask a task that has not ended. Await
  /// the handle to know that it has.
  bool abort() noexcept { return spawned_task::abort(held()); }

  /// True when it has ended: awaiting it will not suspend.
  [[nodiscard]] bool done() const noexcept { return spawned_task::done(held()); }

  /// Unique in its runtime.
  [[nodiscard]] std::uint64_t id() const noexcept { return spawned_task::id(held()); }

  /// Lets it run on by itself. An exception that ends it goes to the runtime's `unhandled` policy.
  void detach() noexcept { hold_.drop(); }

  class value_wait;
  class outcome_wait;
  class end_wait;

  /// `co_await std::move(handle)`: its value; rethrows its exception; throws task_cancelled if it
  /// was stopped. The handle is empty then.
  value_wait operator co_await() && { return value_wait(std::move(*this)); }

  /// `co_await handle.outcome()`: all three ends as a value. Takes the result: the handle is empty.
  [[nodiscard]] outcome_wait outcome() { return outcome_wait(std::move(*this)); }

  /// `co_await handle.wait()`: until it is done(), and nothing else; the handle stays as it is, and
  /// stays where it is while it is waited for.
  [[nodiscard]] end_wait wait() noexcept { return end_wait(held()); }

private:
  task_cell& held() const noexcept {
    check(valid(), "a join handle is used while it holds a task");
    return *hold_.get();
  }

  task_hold hold_;
};

/// Owns the hold while it waits.
template <typename T>
class join_handle<T>::outcome_wait : public join_wait {
public:
  explicit outcome_wait(join_handle&& of) noexcept
      : join_wait(of.held()), hold_(std::move(of.hold_)) {}
  skua::outcome<T> await_resume() { return hold_.template take_outcome<T>(); }

private:
  task_hold hold_;
};

template <typename T>
class join_handle<T>::value_wait final : public outcome_wait {
public:
  using outcome_wait::outcome_wait;
  T await_resume() { return outcome_wait::await_resume().value(); }
};

template <typename T>
class join_handle<T>::end_wait final : public join_wait {
public:
  using join_wait::join_wait;
};

}  // namespace skua::inline SKUA_ABI
