// src/driver/call_pace.hpp: when a driver whose owner is busy goes to the kernel again.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/clock.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// The more that gathers for one call, the fewer calls there are; the longer it gathers, the later
/// it comes. In real time: a clock that a test moves says nothing about how long turns take. May be
/// used from any thread.
class call_pace {
public:
  /// The last call was a while ago.
  [[nodiscard]] bool is_due() const noexcept {
    // order: none; a hint.
    return monotonic_clock().now() - last_.load(std::memory_order_relaxed) >= a_while;
  }

  /// After a call and what came of it, which may themselves have taken long.
  void note_call() noexcept {
    // order: none; see is_due().
    last_.store(monotonic_clock().now(), std::memory_order_relaxed);
  }

private:
  static constexpr std::int64_t a_while = 200'000;  // nanoseconds
  std::atomic<std::int64_t> last_{0};
};

}  // namespace skua::inline SKUA_ABI
