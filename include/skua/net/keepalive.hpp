// skua/net/keepalive.hpp: how TCP finds out that the other side is gone without a word.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/time/time_span.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI::net {

/// `keepalive().idle(60s).interval(10s).count(5)`: after a minute of silence the kernel asks, every
/// ten seconds; if five questions in a row stay without an answer, the connection has failed with
/// std::errc::timed_out. What is not said is as the system has it. Whole seconds, rounded up.
class keepalive {
public:
  keepalive() noexcept = default;
  /// Silence before the first question.
  keepalive& idle(time_span silence) noexcept {
    idle_ = silence;
    return *this;
  }
  /// From one question to the next.
  keepalive& interval(time_span between) noexcept {
    interval_ = between;
    return *this;
  }
  /// Questions without an answer before it has failed.
  keepalive& count(int questions) noexcept {
    count_ = questions;
    return *this;
  }

  // 0: as the system has it.

  /// Silence before the first question.
  [[nodiscard]] time_span idle() const noexcept { return idle_; }
  /// From one question to the next.
  [[nodiscard]] time_span interval() const noexcept { return interval_; }
  /// Questions without an answer before it has failed.
  [[nodiscard]] int count() const noexcept { return count_; }

private:
  time_span idle_;
  time_span interval_;
  int count_ = 0;
};

}  // namespace skua::inline SKUA_ABI::net
