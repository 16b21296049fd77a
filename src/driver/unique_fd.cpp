// src/driver/unique_fd.cpp: close.
#include "skua/driver/unique_fd.hpp"

#include <unistd.h>

#include <utility>

namespace skua::inline SKUA_ABI {

void unique_fd::reset(int number) noexcept {
  const int old = std::exchange(number_, number);
  if (old >= 0) ::close(old);
}

}  // namespace skua::inline SKUA_ABI
