// skua/sync/event.hpp: something that has happened or not, for tasks that wait for it.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/wait_line.hpp"

#include <coroutine>

namespace skua::inline SKUA_ABI {

/// Set until it is reset: `co_await ready.wait();` goes on at once while it is set, and otherwise
/// when it is set next. Any task or thread may set and reset it. Waiting allocates nothing.
///
/// Stopping a task that waits takes nothing from anybody.
class [[gnu::visibility("default")]] event {
public:
  class waiting;

  /// Set or not, to begin with.
  explicit event(bool is_set = false) noexcept : is_set_(is_set) {}
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// All who wait go on, even if it is reset right after. Whoever has seen it set may destroy it.
  void set() noexcept;
  /// Whoever comes from now on waits. Nothing if it is not set.
  void reset() noexcept;
  /// May be out of date when it returns.
  [[nodiscard]] bool is_set() noexcept;

  /// `co_await e.wait()` gives nothing.
  [[nodiscard]] waiting wait() noexcept;

private:
  friend class latch;
  friend class wait_group;

  // Under the lock of the line.
  void set(wait_line::granted& to) noexcept {
    is_set_ = true;
    line_.grant_all(to);
  }

  wait_line line_;
  bool is_set_;  // under the lock of the line
};

/// See event::wait().
class [[gnu::visibility("default")]] event::waiting final : public waiter {
public:
  explicit waiting(event& of) noexcept : of_(of) {}

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return wait_unless([this] { return of_.is_set(); }, to_frame(self));
  }
  void await_resume() noexcept { take(); }

private:
  void start() noexcept override;
  cancel_answer cancel() noexcept override;

  event& of_;
};

inline event::waiting event::wait() noexcept {
  return waiting(*this);
}

}  // namespace skua::inline SKUA_ABI
