// src/runtime/home_queue.hpp: tasks that stay on one worker's home thread.
#pragma once

#include "skua/base/executor.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>

namespace skua::inline SKUA_ABI {

class worker;

/// What spawn_local() tasks are scheduled on. Any thread adds; the home thread takes.
class home_queue final : public executor {
public:
  explicit home_queue(worker& of) noexcept : of_(of) {}

  void schedule(work& item) noexcept override;
  void defer(work& item) noexcept override;
  void offload(work& item) noexcept override;

  /// Home thread: the oldest; null if there is none.
  [[nodiscard]] work* pop() noexcept;
  [[nodiscard]] bool empty() const noexcept {
    // order: none; whoever adds wakes the worker afterwards, and it looks again.
    return length_.load(std::memory_order_relaxed) == 0;
  }

private:
  worker& of_;
  std::mutex mutex_;
  work_queue items_;  // under the mutex
  std::atomic<std::size_t> length_{0};
};

}  // namespace skua::inline SKUA_ABI
