// skua/sync/notify.hpp: tells one task, or all that wait, to look again.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/wait_line.hpp"

#include <atomic>
#include <coroutine>

namespace skua::inline SKUA_ABI {

/// For state that others change: a task looks at it, and if there is nothing to do,
/// `co_await changed.wait();` and looks again. Any task or thread may notify. Waiting allocates
/// nothing.
///
/// A notification that finds nobody is remembered, but only one: whoever waits next goes on at
/// once. So nothing is missed between the look and the wait by a single waiter that is told by
/// notify_one().
///
/// Stopping a task that waits takes nothing from anybody: a notify_one() that had reached it goes
/// to the next in line, or is remembered.
class [[gnu::visibility("default")]] notify {
public:
  class waiting;

  notify() = default;
  notify(const notify&) = delete;
  notify& operator=(const notify&) = delete;

  /// Who has waited longest goes on; if nobody waits, who waits next.
  void notify_one() noexcept;
  /// All who wait now go on. Those who come later do not: nothing is remembered.
  void notify_all() noexcept;

  /// `co_await n.wait()` gives nothing.
  [[nodiscard]] waiting wait() noexcept;
  /// Takes the notification that is remembered; false if there is none.
  [[nodiscard]] bool try_wait() noexcept;

private:
  [[nodiscard]] bool take_at_once() noexcept;

  wait_line line_;
  /// Changed under the lock of the line; never set while somebody is in it.
  std::atomic<bool> remembered_{false};
};

/// See notify::wait().
class [[gnu::visibility("default")]] notify::waiting final : public waiter {
public:
  explicit waiting(notify& of) noexcept : of_(of) {}
  ~waiting() {
    if (is_granted() && passes_on_) [[unlikely]]
      of_.notify_one();
  }

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return wait_unless([this] { return of_.take_at_once(); }, to_frame(self));
  }
  void await_resume() noexcept {
    take();
    passes_on_ = true;  // it may be awaited again
  }

private:
  friend class notify;
  void start() noexcept override;
  cancel_answer cancel() noexcept override;

  notify& of_;
  bool passes_on_ = true;  // it was told alone, and not with all others
};

inline notify::waiting notify::wait() noexcept {
  return waiting(*this);
}

}  // namespace skua::inline SKUA_ABI
