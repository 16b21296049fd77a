// skua/net/datagram.hpp: what is known of a datagram that was received.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/net/socket_address.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI::net {

/// A value; the bytes are where recv_from() was told to put them.
class datagram {
public:
  /// Made by recv_from().
  datagram(std::size_t sent, std::size_t room, const socket_address& from) noexcept
      : sent_(sent), room_(room), from_(from) {}

  /// Bytes in the buffer.
  [[nodiscard]] std::size_t size() const noexcept { return truncated() ? room_ : sent_; }
  /// Bytes that the sender has sent.
  [[nodiscard]] std::size_t sent_size() const noexcept { return sent_; }
  /// The buffer was too small, and the rest is lost.
  [[nodiscard]] bool truncated() const noexcept { return sent_ > room_; }
  /// Who has sent it; nowhere (AF_UNSPEC) if it has no address, as a Unix socket may.
  [[nodiscard]] const socket_address& from() const noexcept { return from_; }

private:
  std::size_t sent_;
  std::size_t room_;
  socket_address from_;
};

}  // namespace skua::inline SKUA_ABI::net
