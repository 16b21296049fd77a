// src/time/instant.cpp: ask the runtime that is at work here, or the kernel.
#include "skua/time/instant.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "skua/base/clock.hpp"

namespace skua::inline SKUA_ABI {

instant now() noexcept {
  const core* const here = current().runtime;
  return instant::of_nanoseconds(here != nullptr ? here->now() : monotonic_clock().now());
}

}  // namespace skua::inline SKUA_ABI
