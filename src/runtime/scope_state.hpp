// src/runtime/scope_state.hpp: the tasks that one block_on() waits for, or the whole runtime's.
#pragma once

#include "driver/futex.hpp"
#include "driver/parker.hpp"
#include "driver/process_barrier.hpp"
#include "sched/live_count.hpp"
#include "skua/base/atomics.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

class driver;

/// Counts the tasks of a scope and tells its *waiter*, the one thread that waits for their end. It
/// is kept for other scopes afterwards and freed with the runtime: a task that has just counted its
/// end may still look at it.
class scope_state {
public:
  /// `lanes` workers. `drives`: what the waiter sleeps in, if it runs the tasks itself; otherwise
  /// it sleeps here.
  scope_state(std::size_t lanes, driver* drives) : live_(lanes), drives_(drives) {}
  scope_state(const scope_state&) = delete;
  scope_state& operator=(const scope_state&) = delete;

  // For tasks, on `lane`.

  void spawned(std::size_t lane) noexcept { live_.spawned(lane); }
  /// The last use of the scope by a task. True if somebody watches, and nobody lives any more.
  bool ended(std::size_t lane) noexcept {
    if (!live_.ended(lane)) [[likely]]
      return false;
    return tell_if_quiet();
  }

  /// A task that block_on() was called with has ended; `failed`: not with a value. Before ended().
  void root_ended(bool failed) noexcept;

  /// Tasks that are spawned from now on are born stopped.
  void stop_newcomers() noexcept;
  [[nodiscard]] bool stops_newcomers() const noexcept {
    // order: [scope.stop] acquire: why it stops.
    return stopping_.load(std::memory_order_acquire);
  }

  // For the waiter.

  /// Before each use, with the number of roots.
  void open(std::uint32_t roots) noexcept;

  [[nodiscard]] bool failed() const noexcept {
    // order: none; what failed is read after its end was.
    return failed_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool roots_ended() const noexcept {
    // order: [scope.roots] acquire: the roots' results.
    return roots_left_.load(std::memory_order_acquire) == 0;
  }
  void watch() noexcept { live_.watch(); }
  void unwatch() noexcept { live_.unwatch(); }
  [[nodiscard]] bool quiet() const noexcept { return live_.quiet(); }

  /// Set by every signal; whoever runs tasks while it waits returns from that when it is.
  [[nodiscard]] const std::atomic<bool>& signalled() const noexcept { return signalled_; }
  /// Before looking at what is waited for: signals from now on count.
  void forget_signal() noexcept {
    // order: [scope.signal] acquire: what there was to see.
    signalled_.exchange(false, std::memory_order_acquire);
  }
  /// Sleeps until a signal, or until `deadline` of CLOCK_MONOTONIC.
  void sleep(std::int64_t deadline) noexcept { parker_.park(deadline); }
  /// From any thread: the waiter looks again at what it waits for.
  void signal() noexcept;

  [[nodiscard]] std::uint64_t total_spawned() const noexcept { return live_.total_spawned(); }
  [[nodiscard]] std::uint64_t total_ended() const noexcept { return live_.total_ended(); }

private:
  bool tell_if_quiet() noexcept;

  live_count<std_atomics, process_barrier> live_;
  parker<std_atomics, process_futex> parker_;
  driver* const drives_;
  std::atomic<std::uint32_t> roots_left_{0};
  std::atomic<std::uint32_t> looks_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> signalled_{false};
};

}  // namespace skua::inline SKUA_ABI
