// src/time/time_limit.cpp: a timer whose end is a piece of work for the group.
#include "skua/time/time_limit.hpp"

#include "driver/driver.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"

#include <stdexcept>

namespace skua::inline SKUA_ABI {

void time_limit::start(time_span length) noexcept {
  if (begins()) at_->add_after(*this, length.count());
}

void time_limit::start(instant end) noexcept {
  deadline = end.nanoseconds();
  if (begins()) at_->add(*this);
}

bool time_limit::begins() noexcept {
  of_.expect();
  core* const here = current().runtime;
  if (here == nullptr) {
    of_.arrive(*this);
    return false;
  }
  at_ = &here->driver_of_this_thread();
  return true;
}

void time_limit::call_off() noexcept {
  if (at_ != nullptr && at_->remove(*this)) of_.forget();
}

// On whichever thread drives. Nothing may be touched afterwards: the task may have gone on.
void time_limit::ring(timer& due) noexcept {
  auto& self = static_cast<time_limit&>(due);
  self.of_.arrive(self);
}

// By the group. One that comes when the task is to stop is no reason for anything any more.
void time_limit::strike(work& item) noexcept {
  auto& self = static_cast<time_limit&>(item);
  self.of_.forget();
  self.struck_ = !self.of_.is_to_stop();
}

void time_limit::throw_if_outside() const {
  if (at_ == nullptr)
    throw std::logic_error("skua::timeout: there is no runtime here whose time could pass");
}

}  // namespace skua::inline SKUA_ABI
