// src/driver/wake_event.cpp: eventfd(2).
#include "driver/wake_event.hpp"

#include "skua/base/check.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace skua::inline SKUA_ABI {

std::expected<wake_event, int> wake_event::make() noexcept {
  unique_fd made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) return std::unexpected(errno);
  return wake_event(std::move(made));
}

void wake_event::signal() const noexcept {
  check(::eventfd_write(fd_.get(), 1) == 0, "an eventfd takes a write");
}

}  // namespace skua::inline SKUA_ABI
