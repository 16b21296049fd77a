// src/runtime/virtual_clock.hpp: time that passes when nothing else is left to do.
#pragma once

#include "skua/base/clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// The clock of a runtime with config::virtual_time. Begins with the time that it is really, so
/// that a time point of std::chrono::steady_clock means about what it says.
///
/// Stands still while an operation of the kernel's is under way: how long that takes is not up to
/// us. Counted here are those that tasks wait for.
class virtual_clock final : public clock {
public:
  explicit virtual_clock(std::int64_t begin) noexcept : time_(begin) {}

  [[nodiscard]] std::int64_t now() const noexcept override { return time_.now(); }
  [[nodiscard]] bool runs() const noexcept override { return false; }

  /// By the worker. Nothing if that is past.
  void advance_to(std::int64_t then) noexcept {
    if (then > now()) time_.advance(then - now());
  }

  // Any thread.

  void operation_begins() noexcept {
    // order: none; the worker sees what it began itself, and what others begin it is told of.
    operations_.fetch_add(1, std::memory_order_relaxed);
  }
  /// After whoever waited for it was queued.
  void operation_ended() noexcept {
    // order: [virtual_clock.ended] release: the task that goes on, in its queue.
    operations_.fetch_sub(1, std::memory_order_release);
  }
  [[nodiscard]] std::size_t operations() const noexcept {
    // order: [virtual_clock.ended] acquire: who goes on after those that have ended.
    return operations_.load(std::memory_order_acquire);
  }

private:
  manual_clock time_;
  std::atomic<std::size_t> operations_{0};
};

}  // namespace skua::inline SKUA_ABI
