// src/runtime/substitution.cpp: a worker whose thread blocks is held by another one meanwhile.
#include "driver/thread_stack.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/worker.hpp"

namespace skua::inline SKUA_ABI {

bool worker::lend() noexcept {
  count_busy(runtime.now());
  current().as = nullptr;
  const bool from_home = at_home();
  if (is_wanted_at_home()) {
    hand_home();
    return true;
  }
  unusual_.away = true;
  // There may be no thread for a while: what is here can be stolen, but for the slot.
  if (work* const next = slot_.take()) queue_next(*next);
  if (stealable() > 0) wake_another();
  if (!runtime.pool().submit(substitution_)) {
    take_hold();
    return false;
  }
  // The home thread may have asked for the worker since we looked, and found nothing to withdraw:
  // it need not wait for a thread of the pool, of which there may be none. The pool's mutex orders:
  // either it finds the substitution or we find that it waits.
  // order: [worker.return] acquire: as in is_wanted_at_home().
  if (!from_home && home_waits_.load(std::memory_order_acquire) &&
      runtime.pool().withdraw(substitution_))
    hand_home();
  return true;
}

bool worker::reclaim() noexcept {
  if (!runtime.pool().withdraw(substitution_)) return false;
  take_hold();
  return true;
}

void worker::take_hold() noexcept {
  current_state& here = current();
  here.as = this;
  here.lost = nullptr;
  unusual_.away = &here != home_thread_;
  note_thread();
}

// Only who wants to see stacks needs to know it.
void worker::note_thread() noexcept {
  if (runtime.settings().stall_signal == 0) return;
  // order: none; see thread().
  thread_.store(thread_stack::this_thread(), std::memory_order_relaxed);
}

void worker::substitute(pool_job& job) noexcept {
  worker& self = static_cast<substitution&>(job).of;
  const current_state before = current();
  current() = current_state{.runtime = &self.runtime, .as = &self, .outer = &before};
  self.note_thread();
  self.loop(self.runtime.over());
  if (self.held_by_this_thread()) self.hand_home();
  current() = before;
}

void worker::hand_home() noexcept {
  // order: [worker.hand] release: all that the substitute did as this worker.
  returned_.store(true, std::memory_order_release);
  home_.wake();
}

// The home thread, after the task that lent the worker away has let go of the stack.
void worker::wait_for_return() noexcept {
  if (reclaim()) return;
  // order: [worker.return] release: what this thread did as the worker.
  home_waits_.store(true, std::memory_order_release);
  if (!reclaim()) {  // once more, see lend(): the substitute may just have lent it on
    driver_->wake();
    // order: [worker.hand] acquire: all that the substitute did.
    while (!returned_.load(std::memory_order_acquire)) home_.park(no_deadline);
    // order: none; nobody else uses this now.
    returned_.store(false, std::memory_order_relaxed);
    take_hold();
  }
  // order: none; nobody else uses this now.
  home_waits_.store(false, std::memory_order_relaxed);
}

}  // namespace skua::inline SKUA_ABI
