// skua/coro/as_outcome.hpp: awaits something and tells how it ended, a stop included.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/task.hpp"

#include <coroutine>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Owns the child like task's own awaiter does, and is a boundary: if the child is stopped, its
/// frames unwind and the awaiting coroutine goes on.
template <typename T>
class outcome_awaiter : private stop_boundary {
public:
  using skua_awaiter_tag = void;

  explicit outcome_awaiter(typename task<T>::handle of) noexcept { child = to_frame(of); }
  outcome_awaiter(const outcome_awaiter&) = delete;
  outcome_awaiter& operator=(const outcome_awaiter&) = delete;
  ~outcome_awaiter() {
    if (child) child.destroy();
  }

  bool await_ready() const noexcept { return false; }

  template <typename Promise>
  auto await_suspend(std::coroutine_handle<Promise> self) noexcept {
    check(child != nullptr, "an as_outcome is awaited once");
    promise_base& parent = to_frame(self).promise();
    parent.adopt(child);
    context_ = parent.context;
    outer = context_->boundary;
    context_->boundary = this;
    return transfer_to(*context_, child);
  }

  outcome<T> await_resume() noexcept(std::is_nothrow_move_constructible_v<outcome<T>>) {
    outcome<T> how;
    if (child == nullptr) return how;  // unwound up to here
    context_->boundary = outer;
    how = std::move(task<T>::handle::from_address(child.address()).promise().result());
    check(!how.stopped(), "a task<T> ends with co_return; this one ran off its end");
    std::exchange(child, {}).destroy();
    return how;
  }

private:
  context_base* context_ = nullptr;
};

/// `outcome<T> how = co_await as_outcome(x);` for a task or any awaitable x. Lets cleaning-up code
/// run on; the stop stays asked for, so the next leaf stops again unless it is `shielded`. Await it
/// in the same expression if x is a leaf or has a name: those are borrowed.
template <typename Awaitable>
[[nodiscard]] auto as_outcome(Awaitable&& awaited) {
  auto child = await_in_task(std::forward<Awaitable>(awaited));
  return outcome_awaiter<typename decltype(child)::value_type>(child.release());
}

}  // namespace skua::inline SKUA_ABI
