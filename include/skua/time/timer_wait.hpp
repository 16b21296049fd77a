// skua/time/timer_wait.hpp: what all waits for a moment share: a leaf with a timer in it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/driver/timer.hpp"
#include "skua/time/instant.hpp"

namespace skua::inline SKUA_ABI {

class driver;

/// Waits until the moment that was set, by the clock of the runtime; gives way once if that is
/// past. A stop ends it at once. The timer lives in it, and nothing is allocated.
class [[gnu::visibility("default")]] timer_wait : public leaf, private timer {
protected:
  timer_wait() noexcept : timer(ring) {}
  ~timer_wait() = default;

  /// Before start().
  void set_end(instant when) noexcept { deadline = when.nanoseconds(); }

  /// In await_resume(): throws std::logic_error if it waited where there is no runtime.
  void throw_if_outside(const char* message) const;

  void start() noexcept override;

  bool from_now_ = false;  // of sleep_wait, which would need a word for it

private:
  cancel_answer cancel() noexcept final;
  static void ring(timer& due) noexcept;

  bool outside_ = false;
  driver* at_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI
