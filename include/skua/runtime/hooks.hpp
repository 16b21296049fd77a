// skua/runtime/hooks.hpp: what a program can watch a runtime do.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// Derive from it, override what is of interest, and put its address into config::hooks. It
/// outlives the runtime (see there). Functions are called on the runtime's own threads, and
/// task_spawned() on any that spawns, several at once; keep them short. What one throws is logged
/// and otherwise ignored.
class hooks {
public:
  /// First and last thing on each worker's thread; `worker` counts from 0.
  virtual void thread_started(std::size_t worker) { (void)worker; }
  /// The last thing on a worker's thread.
  virtual void thread_stops(std::size_t worker) { (void)worker; }

  /// Before a worker sleeps, and after it woke.
  virtual void worker_parks(std::size_t worker) { (void)worker; }
  /// After it woke.
  virtual void worker_unparked(std::size_t worker) { (void)worker; }

  /// On the thread that spawns, before the task can run; on the thread it ended on, when its frames
  /// are gone and before whoever joins it is told.
  virtual void task_spawned(std::uint64_t id) { (void)id; }
  /// On the thread it ended on, when its frames are gone and before whoever joins it is told.
  virtual void task_ended(std::uint64_t id) { (void)id; }

  hooks(const hooks&) = delete;
  hooks& operator=(const hooks&) = delete;

protected:
  hooks() = default;
  ~hooks() = default;  // nobody owns hooks through this interface
};

}  // namespace skua::inline SKUA_ABI
