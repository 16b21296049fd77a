// src/net/candidates.hpp: the addresses that may be tried, in the order of RFC 8305, as they come.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/net/ip_address.hpp"
#include "skua/net/ip_family.hpp"
#include "skua/net/socket_address.hpp"
#include "skua/time/instant.hpp"

#include <cstddef>
#include <deque>
#include <optional>

namespace skua::inline SKUA_ABI::net {

/// One task at a time; knows no clock.
class candidates {
public:
  /// Which version goes first, and until when the other waits for it once it is there: for
  /// `patience`.
  candidates(ip_family first, time_span patience) noexcept
      : next_is_v6_(first == ip_family::v6), patience_(patience) {}

  void add(const socket_address& one, instant now);
  /// No more of this version will come.
  void close(ip_family which) noexcept;

  /// What the next step is.
  enum class step : unsigned char {
    try_it,  ///< take() has one
    wait,    ///< for another to be added, or a version to be closed, or until wait_end()
    end,     ///< there will be no more
  };
  [[nodiscard]] step next(instant now) const noexcept;
  [[nodiscard]] instant wait_end() const noexcept { return wait_end_; }
  /// If next() says so.
  [[nodiscard]] socket_address take();

private:
  struct line {
    std::deque<socket_address> waiting;
    bool open = true;
  };
  [[nodiscard]] const line& of(bool v6) const noexcept { return v6 ? v6_ : v4_; }
  [[nodiscard]] line& of(bool v6) noexcept { return v6 ? v6_ : v4_; }

  line v4_;
  line v6_;
  bool next_is_v6_;
  bool any_taken_ = false;
  const time_span patience_;
  instant wait_end_ = instant::never();
};

}  // namespace skua::inline SKUA_ABI::net
