// src/io/event_fd.cpp: take without waiting, and wait without taking.
#include "skua/io/event_fd.hpp"

#include "skua/base/error.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/wait.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace skua::inline SKUA_ABI::io {

result<event_fd> event_fd::make(std::uint32_t initial) noexcept {
  unique_fd made(::eventfd(initial, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) return fail(error_from_errno(errno));
  return event_fd(descriptor(std::move(made)));
}

result<void> event_fd::add(std::uint64_t count) const noexcept {
  if (::write(fd_.get(), &count, sizeof count) == sizeof count) return {};
  return fail(error_from_errno(errno));
}

std::optional<std::uint64_t> event_fd::try_wait() const noexcept {
  std::uint64_t count = 0;
  if (::read(fd_.get(), &count, sizeof count) != sizeof count) return std::nullopt;
  return count;
}

task<result<std::uint64_t>> event_fd::wait() const {
  for (;;) {
    if (const auto all = try_wait()) co_return *all;
    const auto ready = co_await poll_fd(fd_, POLLIN);
    if (!ready.has_value()) co_return fail(ready.error());
  }
}

}  // namespace skua::inline SKUA_ABI::io
