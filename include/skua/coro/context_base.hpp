// skua/coro/context_base.hpp: the part of a context that its frames touch; no atomics, no threads.
#pragma once

#include "skua/base/abi.hpp"

#include <coroutine>
#include <cstdint>

namespace skua::inline SKUA_ABI {

struct promise_base;
struct stop_boundary;

/// A frame of skua's own: its promise starts with a promise_base.
using frame_handle = std::coroutine_handle<promise_base>;

/// Where a context's frames stand, told to its run function when resume() has returned.
enum class phase : unsigned char {
  held,       ///< `resume_point` is a root that has not started.
  yielded,    ///< It gives way: `resume_point` is to be queued behind what is ready.
  postponed,  ///< Likewise, and the leaf that `resume_point` awaits is to be started then.
  stepped,    ///< Likewise, and it is resumed even if it is to stop: it has branches to end.
  running,    ///< Frames are executing, or (trampoline) `resume_point` is to be resumed next.
  waiting,    ///< A leaf has armed its source; `resume_point` awaits it.
  stopped,    ///< A leaf saw a stop before it armed anything; `resume_point` is to be unwound.
  ended,      ///< The root frame has a result; it is at its last suspension.
};

/// A thread's turn with one task: how much it may still do before it has to give way to others.
struct turn {
  std::uint32_t budget = 0;
  /// The task gives way because nothing is left of that, not of its own will.
  bool used_up = false;
};

/// Only the thread that runs the context reads or writes this.
struct context_base {
  /// The innermost frame: to be resumed next, or unwound from.
  frame_handle resume_point;
  /// The innermost place at which a stop ends; null: at the root.
  stop_boundary* boundary = nullptr;
  /// The turn it runs in; set before each. Null: nobody waits for this thread, no need to give way.
  turn* in_turn = nullptr;
  phase now = phase::held;
  /// While above 0 its budget is not counted: see unconstrained().
  std::uint16_t unconstrained = 0;
  /// It is a `side_chain`: there is a task that it belongs to.
  bool is_side_chain = false;
  /// It is a `branch`: it has no turns of its own, but runs in those of its task.
  bool is_branch = false;
  /// Changes whenever it gives way because one of its branches does.
  std::uint8_t steps = 0;

  /// The usual case of spend_budget(), which calls nothing. False: it is another case, ask that.
  bool spend_from_turn() noexcept {
    if (unconstrained > 0 || in_turn == nullptr || in_turn->budget == 0) return false;
    --in_turn->budget;
    return true;
  }

  /// For a combinator in await_suspend(): gives way as one of its branches does.
  void step_aside(frame_handle self) noexcept {
    resume_point = self;
    now = phase::stepped;
    ++steps;
  }

  /// Counts something that was ready at once. False: the turn is used up, and the task gives way.
  bool spend_budget() noexcept {
    if (unconstrained > 0) return true;
    if (in_turn == nullptr) return !is_branch || spend_budget_of_task();
    if (in_turn->budget > 0) {
      --in_turn->budget;
      return true;
    }
    in_turn->used_up = true;
    return false;
  }

protected:
  context_base() = default;
  ~context_base() = default;

private:
  [[gnu::visibility("default")]] bool spend_budget_of_task() noexcept;
};

/// A place in an await chain at which unwinding ends and `child`'s continuation is resumed instead.
/// Lives in the awaiting frame; boundaries of a context nest like its frames. One without a child
/// is a local_binding, at which nothing ends.
struct stop_boundary {
  frame_handle child;
  stop_boundary* outer = nullptr;
};

}  // namespace skua::inline SKUA_ABI
