// src/time/timer_wait.cpp: a leaf whose source is a timer of the driver.
#include "skua/time/timer_wait.hpp"

#include "driver/driver.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"

#include <stdexcept>

namespace skua::inline SKUA_ABI {

void timer_wait::start() noexcept {
  core* const here = current().runtime;
  outside_ = here == nullptr;
  if (outside_) return complete();
  at_ = &here->driver_of_this_thread();
  at_->add(*this);
}

cancel_answer timer_wait::cancel() noexcept {
  if (outside_) return cancel_answer::pending;  // the completion is on its way
  return at_->remove(*this) ? cancel_answer::detached : cancel_answer::pending;
}

void timer_wait::ring(timer& due) noexcept {
  static_cast<timer_wait&>(due).complete();
}

void timer_wait::throw_if_outside(const char* message) const {
  if (outside_) throw std::logic_error(message);
}

}  // namespace skua::inline SKUA_ABI
