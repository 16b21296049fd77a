// src/runtime/current.cpp: the one thread-local variable of the runtime.
#include "runtime/current.hpp"

namespace skua::inline SKUA_ABI {

constinit thread_local current_state this_threads_state;

current_state& current() noexcept {
  asm volatile("");  // so that calls cannot be merged, whatever else is known of this function
  return this_threads_state;
}

}  // namespace skua::inline SKUA_ABI
