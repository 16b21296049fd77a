// skua/sync/auto_reset_event.hpp: lets one task through each time it is set.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/notify.hpp"

namespace skua::inline SKUA_ABI {

/// Each set() lets one task through `co_await turn.wait();`: who has waited longest, or who comes
/// next. Set twice while nobody waits is set once. Any task or thread may set it. Waiting allocates
/// nothing.
///
/// Stopping a task that waits takes nothing from anybody: if it had been let through, the next one
/// is.
class auto_reset_event {
public:
  /// Set: the first who waits goes through.
  explicit auto_reset_event(bool is_set = false) noexcept {
    if (is_set) set();
  }

  /// Lets one through.
  void set() noexcept { told_.notify_one(); }
  /// Not set any more, if it was.
  void reset() noexcept { (void)told_.try_wait(); }

  /// `co_await e.wait()` gives nothing.
  [[nodiscard]] notify::waiting wait() noexcept { return told_.wait(); }
  /// True if it was set, and is not any more.
  [[nodiscard]] bool try_wait() noexcept { return told_.try_wait(); }

private:
  notify told_;
};

}  // namespace skua::inline SKUA_ABI
