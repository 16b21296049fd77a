// src/driver/alarm_event.cpp: timerfd_create(2).
#include "driver/alarm_event.hpp"

#include "skua/base/check.hpp"

#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>

namespace skua::inline SKUA_ABI {

std::expected<alarm_event, int> alarm_event::make() noexcept {
  unique_fd made(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!made) return std::unexpected(errno);
  return alarm_event(std::move(made));
}

void alarm_event::set(std::int64_t nanoseconds) const noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t length = std::max<std::int64_t>(nanoseconds, 1);  // 0 would mean never
  itimerspec when{};
  when.it_value = {.tv_sec = length / second, .tv_nsec = length % second};
  check(::timerfd_settime(fd_.get(), 0, &when, nullptr) == 0, "a timerfd can be set");
}

}  // namespace skua::inline SKUA_ABI
