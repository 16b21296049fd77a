// src/driver/epoll/poller.cpp: epoll_ctl(2), epoll_wait(2), epoll_pwait2(2).
#include "driver/epoll/poller.hpp"

#include "driver/deferred_signals.hpp"
#include "skua/base/check.hpp"
#include "skua/driver/timer.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>

namespace skua::inline SKUA_ABI {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t millisecond = 1'000'000;

int control(int epoll, int what, int fd, std::uint32_t events, std::uint64_t data) noexcept {
  epoll_event one{};
  one.events = events;
  one.data.u64 = data;
  return ::epoll_ctl(epoll, what, fd, &one) == 0 ? 0 : errno;
}

int room_of(std::span<epoll_event> into) noexcept {
  return static_cast<int>(into.size());
}

// Rounded up: what is due then is due when it returns.
int milliseconds(std::int64_t ns) noexcept {
  if (ns == no_deadline) return -1;
  const std::int64_t whole = ns / millisecond + (ns % millisecond != 0 ? 1 : 0);
  return static_cast<int>(std::min<std::int64_t>(whole, std::numeric_limits<int>::max()));
}

std::span<epoll_event> came(std::span<epoll_event> into, int count) noexcept {
  check(count >= 0 || errno == EINTR, "an epoll instance can be waited for");
  run_deferred_signals();
  return into.first(count < 0 ? 0 : static_cast<std::size_t>(count));
}

}  // namespace

std::expected<poller, int> poller::make() noexcept {
  unique_fd made(::epoll_create1(EPOLL_CLOEXEC));
  if (!made) return std::unexpected(errno);
  return poller(std::move(made));
}

int poller::add(int fd, std::uint32_t events, std::uint64_t data) const noexcept {
  return control(fd_.get(), EPOLL_CTL_ADD, fd, events, data);
}

int poller::modify(int fd, std::uint32_t events, std::uint64_t data) const noexcept {
  return control(fd_.get(), EPOLL_CTL_MOD, fd, events, data);
}

void poller::remove(int fd) const noexcept {
  static_cast<void>(control(fd_.get(), EPOLL_CTL_DEL, fd, 0, 0));
}

std::span<epoll_event> poller::look(std::span<epoll_event> into) const noexcept {
  return came(into, ::epoll_wait(fd_.get(), into.data(), room_of(into), 0));
}

std::span<epoll_event> poller::wait(std::span<epoll_event> into, std::int64_t most) noexcept {
  const std::int64_t ns = limit_of_sleep(most);
  if (!coarse_) {
    const timespec limit{.tv_sec = ns / second, .tv_nsec = ns % second};
    const int count = ::epoll_pwait2(fd_.get(), into.data(), room_of(into),
                                     ns == no_deadline ? nullptr : &limit, nullptr);
    // Linux 5.11 has it, and a sandbox may not know it.
    coarse_ = count < 0 && (errno == ENOSYS || errno == EPERM);
    if (!coarse_) return came(into, count);
  }
  return came(into, ::epoll_wait(fd_.get(), into.data(), room_of(into), milliseconds(ns)));
}

}  // namespace skua::inline SKUA_ABI
