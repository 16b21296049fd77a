// src/runtime/current.cpp: the one thread-local variable of the runtime.
#include "runtime/current.hpp"

namespace skua::inline SKUA_ABI {

current_state& current() noexcept {
  static constinit thread_local current_state of_this_thread;
  asm volatile("");  // so that calls cannot be merged, whatever else is known of this function
  return of_this_thread;
}

}  // namespace skua::inline SKUA_ABI
