// skua/driver/pool_job.hpp: a call that waits for a thread of the blocking pool.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/intrusive_list.hpp"

namespace skua::inline SKUA_ABI {

/// Lives where the call is awaited. In the pool's queue, or running, or neither.
struct pool_job : list_link<> {
  using run_function = void (*)(pool_job&) noexcept;
  explicit pool_job(run_function how) noexcept : run(how) {}

  /// Called on a pool thread; the job may be gone when it returns.
  run_function run;
};

}  // namespace skua::inline SKUA_ABI
