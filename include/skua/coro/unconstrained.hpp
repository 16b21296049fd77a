// skua/coro/unconstrained.hpp: awaits something that need not give way to other tasks.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// Lifts the budget of `from` while it lives. Used by the context's own frames only.
class budget_exemption {
public:
  explicit budget_exemption(context_base& from) noexcept : from_(from) { ++from_.unconstrained; }
  budget_exemption(const budget_exemption&) = delete;
  budget_exemption& operator=(const budget_exemption&) = delete;
  ~budget_exemption() { --from_.unconstrained; }

private:
  context_base& from_;
};

/// `co_await unconstrained(x)` for a task or any awaitable x: x is not made to give way after its
/// share of operations, so others on this worker wait for it. It still may wait and yield. Await it
/// in the same expression if x is a leaf or has a name: those are borrowed.
template <typename Awaitable>
[[nodiscard]] auto unconstrained(Awaitable&& awaited) {
  return made_of<Awaitable>(
      await_under<budget_exemption>(await_in_task(std::forward<Awaitable>(awaited))));
}

}  // namespace skua::inline SKUA_ABI
