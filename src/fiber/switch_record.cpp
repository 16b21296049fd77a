// src/fiber/switch_record.cpp: the exceptions that are under way on a stack.
#include "fiber/switch_record.hpp"

#include <cxxabi.h>

#include <cstring>

namespace skua::inline SKUA_ABI::fiber {

void* exceptions_under_way::of_thread() noexcept {
  return abi::__cxa_get_globals();
}

void exceptions_under_way::swap_with(void* of_thread) noexcept {
  auto* const at = static_cast<std::byte*>(of_thread);
  exceptions_under_way theirs;
  std::memcpy(&theirs.caught, at, sizeof caught);
  std::memcpy(&theirs.uncaught, at + sizeof caught, sizeof uncaught);
  std::memcpy(at, &caught, sizeof caught);
  std::memcpy(at + sizeof caught, &uncaught, sizeof uncaught);
  *this = theirs;
}

}  // namespace skua::inline SKUA_ABI::fiber
