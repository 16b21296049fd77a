// skua/fiber/own_stack.hpp: a plain function that runs on a stack of its own, turn by turn.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/context.hpp"
#include "skua/coro/promise_base.hpp"
#include "skua/coro/task.hpp"
#include "skua/fiber/options.hpp"
#include "skua/fiber/stack_pool.hpp"

#include <coroutine>
#include <cstddef>
#include <type_traits>

namespace skua::inline SKUA_ABI::fiber {

/// An awaiter on a fiber's stack, as the coroutine sees it that awaits it in the fiber's place.
class pending_await {
public:
  /// What await_suspend() gives: whether it suspends, or what is resumed instead.
  using answer = std::conditional_t<uses_trampoline, bool, std::coroutine_handle<>>;

  template <typename Awaiter>
  explicit pending_await(Awaiter& awaiter) noexcept
      : awaiter_(&awaiter), suspend_(suspend_it<Awaiter>) {}

  answer suspend(frame_handle self) const { return suspend_(awaiter_, self); }

private:
  template <typename Answer = answer>
  static Answer suspended(bool yes, [[maybe_unused]] frame_handle self) noexcept {
    if constexpr (std::is_same_v<Answer, bool>)
      return yes;
    else
      return yes ? std::coroutine_handle<>(std::noop_coroutine()) : std::coroutine_handle<>(self);
  }

  template <typename Awaiter>
  static answer suspend_it(void* at, frame_handle self) {
    Awaiter& awaiter = *static_cast<Awaiter*>(at);
    using given = decltype(awaiter.await_suspend(self));
    if constexpr (std::is_void_v<given>) {
      awaiter.await_suspend(self);
      return suspended(true, self);
    } else if constexpr (std::is_same_v<given, bool>) {
      return suspended(awaiter.await_suspend(self), self);
    } else {
      return awaiter.await_suspend(self);
    }
  }

  void* awaiter_;
  answer (*suspend_)(void*, frame_handle);
};

struct switch_record;

/// The seam between fiber::call() and the library; programs have no use for it. Lives in the frame
/// of the coroutine whose place the function takes:
///
///   own_stack mine(how, co_await current_context(), body, &what);
///   while (!mine.ended()) {
///     auto turns = co_await as_outcome(mine.turns());
///     if (turns.stopped()) mine.cancel();
///   }
///
/// The function is switched to from there and switches back when it awaits; the coroutine then
/// awaits in its place. So a fiber is a task like any other, and may go on on another thread.
class [[gnu::visibility("default")]] own_stack {
public:
  /// Lets nothing escape.
  using body = void (*)(void* what) noexcept;

  /// Throws std::system_error if there is no stack to be had. `of` is the context that it runs in.
  own_stack(const options& how, context& of, body runs, void* what);
  own_stack(const own_stack&) = delete;
  own_stack& operator=(const own_stack&) = delete;
  /// After its function has returned, or before it has begun.
  ~own_stack();

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// Runs the function until it returns. If this is stopped, cancel(), and await it anew.
  [[nodiscard]] task<> turns();
  /// The await that it is in, and every later one that is not shielded, throws `cancelled`.
  void cancel() noexcept { is_cancelled_ = raises_ = true; }

  // In the function.

  /// The one that the calling code runs on; null if that is no fiber.
  [[nodiscard]] static own_stack* running() noexcept;
  /// Lets the coroutine await, and returns when that is over, perhaps on another thread. Throws
  /// `cancelled`.
  void wait(const pending_await& what);
  void raise_if_cancelled() const;
  [[nodiscard]] context& chain() const noexcept { return chain_; }

  // For whoever explains an overflow, in a signal handler.

  [[nodiscard]] const options& settings() const noexcept { return settings_; }
  [[nodiscard]] const stack& memory() const noexcept { return memory_; }

private:
  friend class fiber_turn;
  struct entry;
  void switch_in() noexcept;

  const options settings_;
  stack_pool& pool_;
  stack memory_;
  context& chain_;
  const body runs_;
  void* const what_;
  switch_record* record_;  // at the top of its own stack
  const pending_await* awaits_ = nullptr;
  bool begun_ = false;
  bool ended_ = false;
  bool is_cancelled_ = false;
  bool raises_ = false;
};

}  // namespace skua::inline SKUA_ABI::fiber
