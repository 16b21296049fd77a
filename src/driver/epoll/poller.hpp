// src/driver/epoll/poller.hpp: one epoll instance.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/unique_fd.hpp"

#include <sys/epoll.h>

#include <cstdint>
#include <expected>
#include <span>

namespace skua::inline SKUA_ABI {

/// The system calls, and nothing remembered about what is registered.
class poller {
public:
  /// Or an errno.
  [[nodiscard]] static std::expected<poller, int> make() noexcept;

  // Any thread. 0 or an errno. `events`: EPOLL*; `data` comes back with each of them.

  [[nodiscard]] int add(int fd, std::uint32_t events, std::uint64_t data) const noexcept;
  [[nodiscard]] int modify(int fd, std::uint32_t events, std::uint64_t data) const noexcept;
  void remove(int fd) const noexcept;

  /// What has happened, as much as there is room for, without waiting. Any thread.
  [[nodiscard]] std::span<epoll_event> look(std::span<epoll_event> into) const noexcept;

  /// The same, waiting for the first event for so many nanoseconds, for ever if that is
  /// `no_deadline`: never less, unless a signal comes. One thread at a time.
  [[nodiscard]] std::span<epoll_event> wait(std::span<epoll_event> into,
                                            std::int64_t most) noexcept;

private:
  explicit poller(unique_fd made) noexcept : fd_(std::move(made)) {}

  unique_fd fd_;
  bool coarse_ = false;  // this kernel counts only milliseconds
};

}  // namespace skua::inline SKUA_ABI
