// src/runtime/drain.cpp: let all tasks end by themselves, and then end.
#include "runtime/core.hpp"
#include "runtime/scope_state.hpp"

#include <algorithm>
#include <mutex>

namespace skua::inline SKUA_ABI {
namespace {

/// How often a thread that waits for another one to stop driving looks whether it is still wanted.
constexpr std::int64_t ask_every = 1'000'000;

}  // namespace

// The counted stop: whoever was admitted before the door was closed is counted, and what a live
// task spawns is counted before that task's end is. So when the counts are equal nothing is left,
// and nothing can come.
bool core::drain(std::int64_t timeout) {
  if (process_.in_child()) return true;
  refuse_within_shutdown(
      "skua::runtime::drain: called by what shutdown() runs, a stop callback perhaps");
  const std::int64_t deadline = timeout == no_deadline ? no_deadline : deadline_after(timeout);
  outside_.close();
  settings_.log.debug("a runtime drains: it accepts nothing more from outside",
                      {{"runtime", std::string_view(name_)}});
  const std::unique_lock one_at_a_time = end_alone(deadline);
  if (!one_at_a_time.owns_lock()) return false;
  // order: none; written under the mutex. Those that an earlier call has left alone run still.
  if (taken_down_) return !abandoned_.load(std::memory_order_relaxed);
  while (!outside_.empty()) std::this_thread::yield();      // whoever was admitted has spawned
  while (!drive_by(std::min(deadline, now() + ask_every)))  // another thread is at it
    if (!may_wait_on(deadline)) return false;
  everything_->watch();
  const bool ended = wait_for_silence(deadline);
  everything_->unwatch();
  if (ended) take_down();
  stop_driving();
  return ended;
}

// False: the time is up, or somebody shuts down, and will not be kept waiting for the mutex.
bool core::may_wait_on(std::int64_t deadline) const noexcept {
  // order: [drain.yield] acquire: see shut_down().
  if (shutdowns_.load(std::memory_order_acquire) > 0) return false;
  return deadline == no_deadline || now() < deadline;
}

bool core::wait_for_silence(std::int64_t deadline) noexcept {
  for (;;) {
    everything_->forget_signal();
    if (everything_->quiet()) return true;
    if (!may_wait_on(deadline)) return false;
    wait_a_little(*everything_, deadline);
  }
}

}  // namespace skua::inline SKUA_ABI
