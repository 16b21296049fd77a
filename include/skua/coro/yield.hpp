// skua/coro/yield.hpp: gives way to other tasks: always, or when the task has had its share.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/promise_base.hpp"

#include <coroutine>

namespace skua::inline SKUA_ABI {

/// Suspends `self`, which is in await_suspend(), until everything that is ready now has had its
/// turn.
[[gnu::visibility("default")]] void give_way(frame_handle self) noexcept;

/// `co_await yield();` puts the task behind everything that is ready on its worker now. A task that
/// was asked to stop is unwound here, before or after.
class yield {
public:
  using skua_awaiter_tag = void;

  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
    give_way(to_frame(self));
  }
  void await_resume() const noexcept {}
};

/// For awaiters whose result is there at once: true if the task may go on, which counts against its
/// turn; false if it has to give way first, and will be resumed later: await_suspend() then returns
/// true.
inline bool take_from_budget(frame_handle self) noexcept {
  if (self.promise().context->spend_budget()) return true;
  give_way(self);
  return false;
}

/// `co_await consume_budget();` in a loop that never waits: costs a few instructions, and gives way
/// when the task has used up its turn. Everything in skua that is ready at once counts likewise.
class consume_budget : public yield {
public:
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) const noexcept {
    return !take_from_budget(to_frame(self));
  }
};

}  // namespace skua::inline SKUA_ABI
