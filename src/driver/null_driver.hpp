// src/driver/null_driver.hpp: timers and wake-ups, and no input or output.
#pragma once

#include "driver/driver.hpp"
#include "driver/futex.hpp"
#include "driver/parker.hpp"
#include "driver/timer_queue.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/short_lock.hpp"

#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

class null_driver final : public driver {
public:
  /// `time` outlives the driver.
  explicit null_driver(const clock& time) noexcept : timers_(time), alarm_(nothing) {}
  ~null_driver() override;

  void poll() noexcept override;
  void look(std::size_t room) noexcept override { glance(room); }
  bool glance(std::size_t room) noexcept override;
  bool park(std::size_t room) noexcept override;
  bool wake() noexcept override { return parker_.wake(); }
  /// Wakes the owner, which sleeps on until then.
  void set_alarm(std::int64_t nanoseconds) noexcept override;
  void add(timer& item) noexcept override;
  void add_after(timer& item, std::int64_t nanoseconds) noexcept override;
  bool remove(timer& item) noexcept override;
  std::int64_t next_deadline() noexcept override;
  /// Every operation fails, with ENOTSUP, when the driver next hands over; but what is to be closed
  /// is closed.
  void submit(operation& op) noexcept override;
  bool cancel(operation& op) noexcept override;

private:
  static void nothing(timer&) noexcept {}
  bool hand_over() noexcept;

  short_lock mutex_;
  timer_queue timers_;                // under the lock
  timer alarm_;                       // under the lock
  intrusive_list<operation> failed_;  // under the lock
  std::atomic<bool> some_failed_{false};
  parker<std_atomics, process_futex> parker_;
};

}  // namespace skua::inline SKUA_ABI
