// src/runtime/home_queue.hpp: tasks that stay on one worker's home thread.
#pragma once

#include "runtime/worker_counters.hpp"
#include "sched/inbox.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/executor.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

class worker;

/// What the tasks of spawn_local() and spawn_on() are scheduled on; and all tasks, if the flavour
/// is thread_per_core. Any thread adds, the home thread takes. What the home thread adds while it
/// holds its worker goes to a plain list: from there to its next turn a task needs no
/// read-modify-write. The others leave it in the inbox, and wake the worker.
class home_queue final : public executor {
public:
  explicit home_queue(worker& of) noexcept : of_(of) {}

  void schedule(work& item) noexcept override;
  void defer(work& item) noexcept override;
  void offload(work& item) noexcept override;

  // Home thread, which holds its worker.

  /// As schedule().
  void push_here(work& item) noexcept {
    here_.push_back(item);
    publish_length();
  }
  /// The oldest; null if there is none. What is in the inbox goes behind what is here already.
  [[nodiscard]] work* pop() noexcept {
    if (!from_elsewhere_.empty()) [[unlikely]]
      take_in();
    work* const first = here_.pop_front();
    publish_length();
    return first;
  }
  [[nodiscard]] bool empty() const noexcept { return here_.empty() && from_elsewhere_.empty(); }

  // Any thread; numbers that may be out of date.

  [[nodiscard]] std::size_t size() const noexcept {
    // order: none; a number that stands for itself.
    return length_.load(std::memory_order_relaxed) + from_elsewhere_.size();
  }
  [[nodiscard]] std::size_t in_inbox() const noexcept { return from_elsewhere_.size(); }

  // How many tasks live here: for thread_per_core.

  /// By who spawns one: `by` is the worker that does, or null.
  void count_newcomer(const worker* by) noexcept;
  /// Home thread.
  void count_end() noexcept { ended_.add(); }
  /// Any thread.
  [[nodiscard]] std::size_t tasks() const noexcept;

  [[nodiscard]] worker& of() const noexcept { return of_; }

private:
  void take_in() noexcept;
  void publish_length() noexcept {
    // order: none; see size().
    length_.store(here_.size(), std::memory_order_relaxed);
  }

  worker& of_;
  work_queue here_;
  std::atomic<std::size_t> length_{0};  // of here_, for those who look on
  counter spawned_here_, ended_;
  inbox<std_atomics> from_elsewhere_;
  std::atomic<std::uint64_t> spawned_elsewhere_{0};
};

}  // namespace skua::inline SKUA_ABI
