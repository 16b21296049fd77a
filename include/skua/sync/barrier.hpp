// skua/sync/barrier.hpp: tasks wait for each other, round by round.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/sync/wait_line.hpp"

#include <cstddef>
#include <utility>

namespace skua::inline SKUA_ABI {

/// `bool last = co_await together.arrive_and_wait();` goes on when `count` tasks have arrived, and
/// then the next round begins. The last to arrive gets true, the others false. Waiting allocates
/// nothing.
///
/// Stopping a task that waits takes its arrival back: the round then waits for somebody else. If
/// the round is complete it is too late for that: the task has passed.
class [[gnu::visibility("default")]] barrier {
public:
  class arrival;

  /// `count` is 1 or more; 0 ends the program, and says so.
  explicit barrier(std::size_t count) noexcept : count_(count) {
    check(count > 0, "a barrier is for one task at least, not for 0");
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// `co_await b.arrive_and_wait()` gives a bool. When the last of the last round has passed, any
  /// of them may destroy the barrier.
  [[nodiscard]] arrival arrive_and_wait() noexcept;

private:
  const std::size_t count_;
  std::size_t arrived_ = 0;  // as many as are in line; under its lock
  wait_line line_;
};

/// See barrier::arrive_and_wait().
class [[gnu::visibility("default")]] barrier::arrival final : public waiter {
public:
  explicit arrival(barrier& of) noexcept : of_(of) {}

  bool await_resume() noexcept {
    take();
    return std::exchange(last_, false);  // it may be awaited again
  }

private:
  void start() noexcept override;
  cancel_answer cancel() noexcept override;

  barrier& of_;
  bool last_ = false;
};

inline barrier::arrival barrier::arrive_and_wait() noexcept {
  return arrival(*this);
}

}  // namespace skua::inline SKUA_ABI
