// src/driver/driver.hpp: where a worker sleeps, and what wakes it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/operation.hpp"
#include "skua/driver/timer.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace skua::inline SKUA_ABI {

/// One per worker, its *owner*: the one sleep point of its thread. What became ready is handed over
/// by calling it: a timer's `fire`, an operation's `done`.
class driver {
public:
  virtual ~driver() = default;
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  /// Owner: from now on the calling thread is the only one that drives; before all else. Only for
  /// drivers that were made for one thread (driver_settings::one_thread_each).
  virtual void take_over() noexcept {}

  /// Owner: hands over what is ready, without waiting, and gives the kernel what was submitted.
  /// Also for a worker that does it in place of an owner that is stuck.
  virtual void poll() noexcept = 0;

  // What the owner asks for itself says how many operations it has room for, more or less; the rest
  // is kept until it asks again.
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// Owner, which has tasks to run: as poll() if the last call was a while ago, or as glance().
  virtual void look(std::size_t room) noexcept = 0;

  /// Owner: hands over what is ready if that can be told without a system call. True if there was
  /// anything.
  virtual bool glance(std::size_t room) noexcept = 0;

  /// Owner: sleeps until woken, until something is ready, which it hands over, or until the alarm.
  /// A wake that came before makes it return at once. True if there was a wake.
  virtual bool park(std::size_t room) noexcept = 0;

  /// Any thread. True if the owner slept.
  virtual bool wake() noexcept = 0;

  /// Any thread, while nothing can be gone: a park() that is under way then, or begins later, ends
  /// after so many nanoseconds; once. Wakes nobody now.
  virtual void set_alarm(std::int64_t nanoseconds) noexcept = 0;

  /// Any thread: fires once, at its deadline or a little later, never earlier.
  virtual void add(timer& item) noexcept = 0;

  /// Any thread: the same, so many nanoseconds from now. A long time may begin when the owner next
  /// looks at its clock: what is called off before that, as most timeouts are, costs next to
  /// nothing.
  virtual void add_after(timer& item, std::int64_t nanoseconds) noexcept = 0;

  /// Any thread. True: it will not fire. False: it has fired, or is about to.
  virtual bool remove(timer& item) noexcept = 0;

  /// Any thread: the deadline of the next timer, or perhaps an earlier one; `no_deadline` if there
  /// is none.
  [[nodiscard]] virtual std::int64_t next_deadline() noexcept = 0;

  /// Any thread that runs a task: begins. `done` is called once, from whichever thread drives, or
  /// inside this call if the result is there at once.
  virtual void submit(operation& op) noexcept = 0;

  /// Any thread, while the operation cannot be gone. True: it is the caller's again, and `done`
  /// will not be called. False: `done` is called when it has ended, soon, or has been already.
  virtual bool cancel(operation& op) noexcept = 0;

protected:
  driver() = default;
};

}  // namespace skua::inline SKUA_ABI
