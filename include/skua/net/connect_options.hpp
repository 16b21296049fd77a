// skua/net/connect_options.hpp: how addresses are tried in turn until one answers.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/base/duration.hpp"
#include "skua/time/time_span.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI::net {

/// `connect_options().stagger(100ms)`. What makes no sense ends the program, and says so.
class connect_options {
public:
  /// How long an attempt is alone before the next address is tried, too: 250 ms, as RFC 8305
  /// recommends. If an attempt fails the next begins at once.
  template <duration_like Duration>
  connect_options& stagger(Duration length) noexcept {
    stagger_ = not_negative(length);
    return *this;
  }

  /// How long IPv4 addresses, once they are known, wait for those of IPv6: 50 ms, likewise.
  template <duration_like Duration>
  connect_options& resolution_delay(Duration length) noexcept {
    resolution_delay_ = not_negative(length);
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] time_span stagger() const noexcept { return stagger_; }
  [[nodiscard]] time_span resolution_delay() const noexcept { return resolution_delay_; }
  ///@}

private:
  static time_span not_negative(time_span length) noexcept {
    check(length.count() >= 0, "connect: nobody waits for less than no time");
    return length;
  }

  static constexpr std::int64_t millisecond = 1'000'000;
  time_span stagger_ = time_span::of_nanoseconds(250 * millisecond);
  time_span resolution_delay_ = time_span::of_nanoseconds(50 * millisecond);
};

}  // namespace skua::inline SKUA_ABI::net
