// skua/runtime/this_worker.hpp: which worker runs the calling code.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <optional>

namespace skua::inline SKUA_ABI {

/// The number of the worker that the calling thread is now, from 0 on; none on a thread that is no
/// worker (a blocking call, say). A task of a thread_per_core runtime, and one that was spawned by
/// spawn_local() or spawn_on(), always gets the same answer; others may be on another worker after
/// each await. Does not suspend.
[[nodiscard, gnu::visibility("default")]] std::optional<std::size_t> this_worker() noexcept;

/// How many workers the runtime of the calling code has; throws std::logic_error outside one.
[[nodiscard, gnu::visibility("default")]] std::size_t worker_count();

}  // namespace skua::inline SKUA_ABI
