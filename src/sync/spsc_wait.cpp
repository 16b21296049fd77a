// src/sync/spsc_wait.cpp: say who waits, then that somebody does.
#include "skua/sync/spsc_wait.hpp"

namespace skua::inline SKUA_ABI {

void spsc_wait::wait_at(frame_handle self, std::uint64_t count) noexcept {
  count_ = count;
  if (arm(self)) start();
}

void spsc_wait::start() noexcept {
  who_ = this;
  if (!other_.wait_at(count_)) complete();
}

cancel_answer spsc_wait::cancel() noexcept {
  return other_.withdraw() ? cancel_answer::detached : cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
