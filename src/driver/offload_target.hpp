// src/driver/offload_target.hpp: where a driver sends what blocks a thread.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/driver/pool_job.hpp"

namespace skua::inline SKUA_ABI {

/// Both functions may be called from any thread, with the driver's lock held: they call nothing
/// back.
class offload_target {
public:
  /// False if there is no thread and the system gives none; the job is then still the caller's.
  [[nodiscard]] virtual bool submit(pool_job& job) noexcept = 0;

  /// True: the job was waiting, and will not run. False: it has begun, or was never submitted.
  [[nodiscard]] virtual bool withdraw(pool_job& job) noexcept = 0;

protected:
  ~offload_target() = default;  // nobody owns one through this interface
};

}  // namespace skua::inline SKUA_ABI
