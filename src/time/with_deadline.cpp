// src/time/with_deadline.cpp: the one key of all deadlines.
#include "skua/time/with_deadline.hpp"

namespace skua::inline SKUA_ABI {

const task_local<instant>& deadline_local() noexcept {
  static const task_local<instant> key;
  return key;
}

}  // namespace skua::inline SKUA_ABI
