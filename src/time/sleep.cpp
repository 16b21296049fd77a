// src/time/sleep.cpp: from a length to a moment, when the wait begins.
#include "skua/time/sleep.hpp"

namespace skua::inline SKUA_ABI {

void sleep_wait::start() noexcept {
  if (from_now_) set_end(now() + length_);
  timer_wait::start();
}

void sleep_wait::await_resume() const {
  throw_if_outside("skua::sleep: there is no runtime here whose time could pass");
}

}  // namespace skua::inline SKUA_ABI
