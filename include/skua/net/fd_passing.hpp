// skua/net/fd_passing.hpp: open descriptors that travel with the bytes of a Unix socket.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/descriptor.hpp"
#include "skua/io/io_operation.hpp"

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <span>

namespace skua::inline SKUA_ABI::net {

/// The most that one message carries: a limit of the kernel's.
inline constexpr std::size_t most_passed_fds = 253;

/// What a message is made of besides its bytes.
class [[gnu::visibility("default")]] fd_message {
public:
  fd_message() noexcept;
  fd_message(const fd_message&) = delete;
  fd_message& operator=(const fd_message&) = delete;

  void carry(std::span<const std::byte> bytes, std::span<const int> fds) noexcept;
  void make_room(std::span<std::byte> bytes, std::size_t fds) noexcept;
  /// Once more, for the same bytes: what came before was taken.
  void make_room(std::size_t fds) noexcept;
  [[nodiscard]] msghdr& header() noexcept { return header_; }

  /// Those that have come move to `into`, or are closed if there are more. How many there were.
  std::size_t take(std::span<unique_fd> into) noexcept;
  [[nodiscard]] bool lost_fds() const noexcept;
  [[nodiscard]] bool lost_bytes() const noexcept;

private:
  iovec bytes_{};
  msghdr header_{};
  // Not filled before it is used: most messages carry few.
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(most_passed_fds * sizeof(int))> control_;
};

/// What recv_with_fds() gives.
class received_fds {
public:
  /// Made by recv_with_fds().
  received_fds(std::size_t bytes, std::size_t fds, bool truncated) noexcept
      : bytes_(bytes), fds_(fds), truncated_(truncated) {}

  /// How many bytes have come.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// How many descriptors have come and were kept, from the first place on.
  [[nodiscard]] std::size_t fds() const noexcept { return fds_; }
  /// There was no place for some of them, or (of a datagram) no room for some of its bytes: those
  /// are closed, or lost.
  [[nodiscard]] bool truncated() const noexcept { return truncated_; }

private:
  std::size_t bytes_;
  std::size_t fds_;
  bool truncated_;
};

/// co_await it for a result<std::size_t>, the bytes sent.
class [[gnu::visibility("default")]] send_fds_operation final : public io_wait {
public:
  /// Use unix_stream::send_with_fds().
  send_fds_operation(const io::descriptor& on, std::span<const std::byte> bytes,
                     std::span<const int> fds) noexcept;
  result<std::size_t> await_resume();

private:
  fd_message message_;
};

/// co_await it for a result<received_fds>.
class [[gnu::visibility("default")]] receive_fds_operation final : public io_wait {
public:
  /// Use unix_stream::recv_with_fds().
  receive_fds_operation(const io::descriptor& on, std::span<std::byte> into,
                        std::span<unique_fd> fds) noexcept;
  /// Descriptors that nobody took are closed.
  ~receive_fds_operation();
  result<received_fds> await_resume();

private:
  fd_message message_;
  std::span<unique_fd> fds_;
};

}  // namespace skua::inline SKUA_ABI::net
