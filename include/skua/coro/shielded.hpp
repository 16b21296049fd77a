// skua/coro/shielded.hpp: awaits something that a stop of the task must not reach.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/await_in_task.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/task.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// Hides the stop of `from` while it lives. Used by the context's own frames only.
class shield {
public:
  explicit shield(context& from) noexcept : from_(from) { from_.set_shield(true); }
  shield(const shield&) = delete;
  shield& operator=(const shield&) = delete;
  ~shield() { from_.set_shield(false); }

private:
  context& from_;
};

/// `co_await shielded(x)` for a task or any awaitable x: x runs to its end whether or not the task
/// is asked to stop; the stop takes effect at the first leaf after it. Keep x short. Await it in
/// the same expression if x is a leaf or has a name: those are borrowed.
template <typename Awaitable>
[[nodiscard]] auto shielded(Awaitable&& awaited) {
  return made_of<Awaitable>(await_under<shield>(await_in_task(std::forward<Awaitable>(awaited))));
}

}  // namespace skua::inline SKUA_ABI
