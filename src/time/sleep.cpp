// src/time/sleep.cpp: a leaf whose source is a timer of the driver.
#include "skua/time/sleep.hpp"

#include "driver/driver.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"

#include <stdexcept>

namespace skua::inline SKUA_ABI {

void sleep_wait::start() noexcept {
  const current_state& here = current();
  if (here.runtime == nullptr) return complete();
  alarm_.deadline = here.runtime->deadline_after(length_);
  at_ = &here.runtime->driver_of_this_thread();
  at_->add(alarm_);
}

cancel_answer sleep_wait::cancel() noexcept {
  return at_->remove(alarm_) ? cancel_answer::detached : cancel_answer::pending;
}

void sleep_wait::ring(timer& due) noexcept {
  static_cast<alarm&>(due).of.complete();
}

void sleep_wait::await_resume() const {
  if (at_ == nullptr)
    throw std::logic_error("skua::sleep: there is no runtime here whose time could pass");
}

}  // namespace skua::inline SKUA_ABI
