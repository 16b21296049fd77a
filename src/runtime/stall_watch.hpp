// src/runtime/stall_watch.hpp: notices a worker that is stuck, and has it served by another.
#pragma once

#include "driver/thread_stack.hpp"
#include "sched/watch_post.hpp"
#include "skua/base/atomics.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace skua::inline SKUA_ABI {

class core;
class worker;

/// A worker is *stuck* if it is awake and has begun no task between two looks of the guard (see
/// watch_post). These are 5 ms apart, and 2 ms while somebody seems to be stuck. Whether it
/// computes or sits in a system call makes no difference to those who wait for it. One that was
/// merely not given a processor is taken for stuck as well: being served hurts nobody.
class stall_watch {
public:
  stall_watch(core& of, std::size_t workers);

  /// For a worker, before and after each sleep.
  void sleeps(const worker& who) noexcept;
  void wakes(const worker& who) noexcept;

  /// For a worker between sleeps() and wakes(), before each sleep: looks if it is time to, and sets
  /// the next alarm. True if it found something to do.
  [[nodiscard]] bool look(worker& guard) noexcept;

  /// Any thread: how many were reported.
  [[nodiscard]] std::uint64_t stalls() const noexcept {
    // order: none; a number that stands for itself.
    return stalls_.load(std::memory_order_relaxed);
  }

private:
  // Nanoseconds.
  static constexpr std::int64_t look_every = 5'000'000;
  static constexpr std::int64_t look_again_after = 2'000'000;  // at one that made no progress

  /// What the guard saw when it last looked.
  struct record {
    std::uint64_t progress = 0;
    std::int64_t since = 0;
    bool reported = false;
  };

  void set_alarm(std::size_t worker) noexcept;
  [[nodiscard]] std::int64_t interval() const noexcept {
    // order: none; a number that stands for itself.
    return suspicious_.load(std::memory_order_relaxed) ? look_again_after : look_every;
  }
  [[nodiscard]] bool look_at_all(worker& guard, std::int64_t now) noexcept;
  [[nodiscard]] bool look_at(worker& one, worker& guard, std::int64_t now) noexcept;
  [[nodiscard]] std::string stack_of(const worker& stuck);
  [[nodiscard]] bool report(worker& stuck, std::uint64_t progress, std::int64_t length) noexcept;

  core& of_;
  const bool active_;
  watch_post<std_atomics> post_;
  std::vector<std::atomic<std::int64_t>> alarms_;  // when each worker's goes off; perhaps past
  std::atomic<std::int64_t> next_look_{0};
  std::atomic<bool> suspicious_{false};  // somebody made no progress when the guard last looked
  std::mutex mutex_;                     // one guard after the other
  std::vector<record> records_;          // under the mutex
  thread_stack stack_;                   // under the mutex
  std::atomic<std::uint64_t> stalls_{0};
};

}  // namespace skua::inline SKUA_ABI
