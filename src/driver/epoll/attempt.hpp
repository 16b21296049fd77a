// src/driver/epoll/attempt.hpp: one try of an operation, which blocks nobody.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/operation.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI {

/// What a try came to.
struct tried {
  enum class outcome : std::uint8_t {
    ended,   // with `result`
    waits,   // until its descriptor is ready: then it is tried again
    blocks,  // a thread of the pool has to do it
  };
  outcome how;
  std::int32_t result = 0;
  bool for_other_fd = false;  // waits: a splice, for room at its target
};

/// Whether the descriptor was seen to be in non-blocking mode, or has to be looked at.
enum class mode_known : std::uint8_t { no, nonblocking };

/// Works on descriptors in whatever mode they are, and sets that of a socket that listens or
/// connects. An operation of several steps remembers in `stage` and `result` how far it came: a
/// `result` above 0 is what it has moved while it waits for more.
/// Not for op_code::close, which is not tried.
[[nodiscard]] tried attempt(operation& op, mode_known mode) noexcept;

/// In which line an operation waits at a descriptor. The first of a line that does not succeed
/// tells that nobody behind it would; watchers are tried each for itself.
enum class line : std::uint8_t { readers, writers, watchers };
[[nodiscard]] line line_of(const operation& op) noexcept;

/// EPOLL*: what it waits for.
[[nodiscard]] std::uint32_t events_of(const operation& op) noexcept;

/// Its turn does not depend on who else waits, nor on what is known about its descriptor.
[[nodiscard]] bool out_of_line(const operation& op) noexcept;

/// It moved less than was asked for, in a way that tells of a TCP socket that no more can be moved
/// now.
[[nodiscard]] bool fell_short(const operation& op, std::int32_t result) noexcept;

/// Of a descriptor that has one.
[[nodiscard]] bool is_tcp(int fd) noexcept;

/// close(2) may take long there.
[[nodiscard]] bool closes_slowly(int fd) noexcept;

}  // namespace skua::inline SKUA_ABI
