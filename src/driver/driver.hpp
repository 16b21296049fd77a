// src/driver/driver.hpp: where a worker sleeps, and what wakes it.
#pragma once

#include "driver/timer_wheel.hpp"
#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI {

/// One per worker, its *owner*: the one sleep point of its thread. What became ready is handed over
/// by calling it: a timer's `fire`.
class driver {
public:
  virtual ~driver() = default;
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  /// Owner: hands over what is ready, without waiting.
  virtual void poll() noexcept = 0;

  /// Owner: sleeps until woken or until something is ready, and hands that over. A wake that came
  /// before makes it return at once.
  virtual void park() noexcept = 0;

  /// Any thread. True if the owner slept.
  virtual bool wake() noexcept = 0;

  /// Any thread: fires once, at its deadline or a little later, never earlier.
  virtual void add(timer& item) noexcept = 0;

  /// Any thread. True: it will not fire. False: it has fired, or is about to.
  virtual bool remove(timer& item) noexcept = 0;

protected:
  driver() = default;
};

}  // namespace skua::inline SKUA_ABI
