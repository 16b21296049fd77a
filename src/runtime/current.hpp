// src/runtime/current.hpp: what the calling thread is doing for which runtime.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/context_base.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI {

class core;
class task_cell;
class worker;

struct current_state {
  /// Set on workers, in blocking calls and in blocking sections.
  core* runtime = nullptr;
  /// The worker that the thread is now; null in a blocking call or section.
  worker* as = nullptr;
  /// On whose behalf; null between tasks.
  task_cell* task = nullptr;
  /// The chain of that task whose turn it is, if it has turns of its own: see parallel_group.
  context_base* chain = nullptr;
  /// The worker that the thread was before a blocking section in which a substitute took it, from
  /// the section's end until the thread has it back or has no more to do with it.
  worker* lost = nullptr;
  /// The turn of a task that goes on after that: used up, so that it gives way soon, and the thread
  /// can go back to its worker.
  turn used_up = {};
  /// What the thread does beneath this, and comes back to: a blocking call that drives another
  /// runtime, say. Null if nothing.
  const current_state* outer = nullptr;
  /// So many tasks are beneath it on the stack, each of which awaits the one above it.
  unsigned beneath = 0;
  /// Where on the stack the first of these awaits.
  std::uintptr_t bottom = 0;
  /// The last of these that are above another, until it has ended: who awaits it tells of its end.
  task_cell* awaited = nullptr;
  /// How many no_awaits there are.
  unsigned no_awaits = 0;

  /// The worker of `whose` that the thread is now; or null.
  [[nodiscard]] worker* worker_of(const core& whose) const noexcept {
    return runtime == &whose ? as : nullptr;
  }

  /// The task, or a chain of it, lets go of the thread.
  void end_turn() noexcept {
    check(no_awaits == 0,
          "a task does not wait while it has a no_await: what that is for would be held meanwhile, "
          "and let go by another thread");
    task = nullptr;
  }
};

/// The calling thread's own. Never inlined, and asked anew each time: a coroutine may be on another
/// thread after a suspension, and the compiler must not remember where it was before.
[[gnu::noinline]] current_state& current() noexcept;

// Initial-exec: see this_threads_frames.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local current_state this_threads_state;

/// The same, without a call. Only in a .cpp file, in a function that is no coroutine, has no
/// coroutine to be inlined into, and does not go on on another thread: none that a fiber may switch
/// in, or that could be inlined into one.
inline current_state& current_in_function() noexcept {
  return this_threads_state;
}

}  // namespace skua::inline SKUA_ABI
