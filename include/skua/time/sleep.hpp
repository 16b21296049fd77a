// skua/time/sleep.hpp: let time pass.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/duration.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/driver/timer.hpp"

#include <cstdint>

namespace skua::inline SKUA_ABI {

class driver;

/// See sleep().
class [[gnu::visibility("default")]] sleep_wait final : public leaf {
public:
  explicit sleep_wait(std::int64_t nanoseconds) noexcept
      : alarm_(ring, *this), length_(nanoseconds) {}

  /// Throws std::logic_error if it was awaited where there is no runtime.
  void await_resume() const;

private:
  struct alarm final : timer {
    alarm(fire_function when_due, sleep_wait& whose) noexcept : timer(when_due), of(whose) {}
    sleep_wait& of;
  };

  void start() noexcept override;
  cancel_answer cancel() noexcept override;
  static void ring(timer& due) noexcept;

  alarm alarm_;
  std::int64_t length_;
  driver* at_ = nullptr;
};

/// co_await sleep(10ms): goes on when that much time has passed by the runtime's clock, never
/// earlier, and as little later as the kernel's timers and the other tasks allow. 0 or less gives
/// way to others once. A stop ends it at once. Allocates nothing, and needs no I/O: it works with
/// every backend.
template <duration_like Duration>
[[nodiscard]] sleep_wait sleep(Duration length) noexcept {
  return sleep_wait(to_nanoseconds(length));
}

}  // namespace skua::inline SKUA_ABI
