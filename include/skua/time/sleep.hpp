// skua/time/sleep.hpp: let time pass.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/time_span.hpp"
#include "skua/time/timer_wait.hpp"

namespace skua::inline SKUA_ABI {

/// See sleep() and sleep_until().
class [[gnu::visibility("default")]] sleep_wait final : public timer_wait {
public:
  explicit sleep_wait(time_span length) noexcept : length_(length) { from_now_ = true; }
  explicit sleep_wait(instant end) noexcept { set_end(end); }

  /// Throws std::logic_error if it was awaited where there is no runtime.
  void await_resume() const;

private:
  void start() noexcept override;

  time_span length_;
};

/// co_await sleep(10ms): goes on when that much time has passed by the runtime's clock, never
/// earlier, and as little later as the kernel's timers and the other tasks allow. 0 or less gives
/// way to others once; what is too long for a clock lasts for ever. A stop ends it at once.
/// Allocates nothing, and needs no I/O: it works with every backend.
template <duration_like Duration>
[[nodiscard]] sleep_wait sleep(Duration length) noexcept {
  return sleep_wait(time_span(length));
}

/// co_await sleep_until(now() + 10ms): the same for a moment of the runtime's clock. One that is
/// past gives way to others once.
[[nodiscard]] inline sleep_wait sleep_until(instant end) noexcept {
  return sleep_wait(end);
}

}  // namespace skua::inline SKUA_ABI
