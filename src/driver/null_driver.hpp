// src/driver/null_driver.hpp: timers and wake-ups, and no input or output.
#pragma once

#include "driver/driver.hpp"
#include "driver/futex.hpp"
#include "driver/parker.hpp"
#include "driver/timer_wheel.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/clock.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace skua::inline SKUA_ABI {

class null_driver final : public driver {
public:
  /// `time` outlives the driver.
  explicit null_driver(const clock& time) noexcept : time_(time), wheel_(time.now()) {}

  void poll() noexcept override;
  void park() noexcept override;
  bool wake() noexcept override { return parker_.wake(); }
  void add(timer& item) noexcept override;
  bool remove(timer& item) noexcept override;

private:
  static constexpr std::int64_t awake = std::numeric_limits<std::int64_t>::min();

  void fire_due() noexcept;
  [[nodiscard]] std::int64_t by_kernel(std::int64_t deadline) const noexcept;

  const clock& time_;
  std::mutex mutex_;
  timer_wheel wheel_;                  // under the mutex
  std::int64_t sleeps_until_ = awake;  // under the mutex
  std::atomic<bool> has_timers_{false};
  parker<std_atomics, process_futex> parker_;
};

}  // namespace skua::inline SKUA_ABI
