// skua/sync/latch.hpp: counts down to zero once, for tasks that wait for that.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/event.hpp"

#include <coroutine>
#include <cstddef>

namespace skua::inline SKUA_ABI {

/// Made with a number of things that have to be done; each that is done counts it down, and
/// `co_await done.wait();` goes on when it is 0, and for ever after. Any task or thread may count.
/// Waiting allocates nothing.
///
/// Stopping a task that waits changes nothing for the others: what it has counted down stays so.
class [[gnu::visibility("default")]] latch {
public:
  class arrival;

  /// 0: everything is done, and nobody waits.
  explicit latch(std::size_t count) noexcept : left_(count), zero_(count == 0) {}

  /// More than is left ends the program, and says so. Who has waited may destroy the latch, even if
  /// this has not returned yet.
  void count_down(std::size_t count = 1) noexcept;

  /// `co_await l.wait()` gives nothing.
  [[nodiscard]] event::waiting wait() noexcept { return zero_.wait(); }
  /// True if it is 0.
  [[nodiscard]] bool try_wait() noexcept { return zero_.is_set(); }

  /// `co_await l.arrive_and_wait()` counts down and waits.
  [[nodiscard]] arrival arrive_and_wait(std::size_t count = 1) noexcept;

private:
  std::size_t left_;  // under the lock of zero_
  event zero_;
};

/// See latch::arrive_and_wait().
class latch::arrival {
public:
  using skua_awaiter_tag = void;

  arrival(latch& of, std::size_t count) noexcept : of_(of), count_(count), wait_(of.wait()) {}

  bool await_ready() const noexcept { return wait_.await_ready(); }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    of_.count_down(count_);
    return wait_.await_suspend(self);
  }
  void await_resume() noexcept { wait_.await_resume(); }

private:
  latch& of_;
  const std::size_t count_;
  event::waiting wait_;
};

inline latch::arrival latch::arrive_and_wait(std::size_t count) noexcept {
  return {*this, count};
}

}  // namespace skua::inline SKUA_ABI
