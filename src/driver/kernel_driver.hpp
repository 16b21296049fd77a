// src/driver/kernel_driver.hpp: what the drivers that wait in the kernel have in common.
#pragma once

#include "driver/alarm_event.hpp"
#include "driver/call_pace.hpp"
#include "driver/driver.hpp"
#include "driver/offload_target.hpp"
#include "driver/park_word.hpp"
#include "driver/timer_queue.hpp"
#include "driver/wake_event.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/base/short_lock.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>

namespace skua::inline SKUA_ABI {

/// The sleep and what ends it, the timers, and the way through the blocking pool. How operations
/// reach the kernel and come back is left to drive(), submit() and cancel().
///
/// One lock covers the wheel and the lists of operations. It is never held during a system call
/// that can take long, so any thread may use the driver, and a worker drive in place of an owner
/// that is stuck.
class kernel_driver : public driver {
public:
  void poll() noexcept final { drive(false, no_limit); }
  void look(std::size_t room) noexcept final;
  bool park(std::size_t room) noexcept final;
  bool wake() noexcept final;
  void set_alarm(std::int64_t nanoseconds) noexcept final { alarm_.set(nanoseconds); }
  void add(timer& item) noexcept final;
  void add_after(timer& item, std::int64_t nanoseconds) noexcept final;
  bool remove(timer& item) noexcept final;
  std::int64_t next_deadline() noexcept final;

protected:
  /// What ends the sleep from outside.
  struct wakers {
    wake_event wakes;
    alarm_event rings;
    /// Or an errno.
    [[nodiscard]] static std::expected<wakers, int> make();
  };

  /// What there is to hand over, when no lock is held any more.
  struct harvest {
    intrusive_list<operation> ended;
    timer_list due;
  };

  kernel_driver(wakers made, const clock& time, offload_target& pool) noexcept;

  /// Calls the kernel, and hands over what came of it. If `sleeps`, which was announced in word_:
  /// until something has ended, a timer is due, or somebody wakes us. True if somebody did.
  virtual bool drive(bool sleeps, std::size_t room) noexcept = 0;
  /// Under the lock: its time is up.
  virtual void expire(operation& op, harvest& into) noexcept = 0;

  void gather_timers(harvest& into) noexcept;          // under the lock
  void let_go(operation& op) noexcept;                 // under the lock: nobody else has it
  [[nodiscard]] bool offload(operation& op) noexcept;  // under the lock; false: there is no thread
  /// True if there was anything.
  static bool hand_over(harvest& from) noexcept;

  const wake_event wakes_;
  const alarm_event alarm_;
  offload_target& pool_;
  park_word<std_atomics> word_;
  call_pace pace_;

  short_lock mutex_;
  timer_queue timers_;  // under the lock

private:
  static void run_in_pool(pool_job& job) noexcept;
  void came_from_pool(operation& op) noexcept;
};

}  // namespace skua::inline SKUA_ABI
