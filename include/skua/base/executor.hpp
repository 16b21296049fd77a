// skua/base/executor.hpp: where ready work goes; the one seam between coroutines and threads.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/work.hpp"

namespace skua::inline SKUA_ABI {

/// Runs what it is given, each item once per call, never inside the call itself.
///
/// All functions may be called from any thread. They cannot fail: an executor accepts work for as
/// long as anything that points to it is alive.
class executor {
public:
  /// Queues `item` on the executor's own threads.
  virtual void schedule(work& item) noexcept = 0;

  /// Queues `item` behind everything that is ready now: for work that gives way to others.
  virtual void defer(work& item) noexcept = 0;

  /// Queues `item` where blocking is allowed: on a pool beside the executor's own threads.
  virtual void offload(work& item) noexcept = 0;

  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

protected:
  executor() = default;
  ~executor() = default;  // nobody owns an executor through this interface
};

}  // namespace skua::inline SKUA_ABI
