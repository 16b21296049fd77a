// src/time/virtual_time.cpp: move the clock by hand, from timer to timer.
#include "skua/time/virtual_time.hpp"

#include "driver/driver.hpp"
#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/virtual_clock.hpp"
#include "runtime/worker.hpp"
#include "skua/base/check.hpp"

#include <algorithm>

namespace skua::inline SKUA_ABI::testing {

bool move_time(instant end) noexcept {
  const current_state& here = current();
  check(here.as != nullptr && here.runtime->virtual_time() != nullptr,
        "time is moved by a task of a runtime with config::virtual_time");
  virtual_clock& time = *here.runtime->virtual_time();
  driver& timers = here.as->sleeps_in();
  time.advance_to(std::min(end.nanoseconds(), timers.next_deadline()));
  timers.glance(driver::no_limit);
  return time.now() >= end.nanoseconds();
}

}  // namespace skua::inline SKUA_ABI::testing
