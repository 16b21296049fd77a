// skua/fiber/cancelled.hpp: what unwinds the stack of a fiber that was asked to stop.
#pragma once

#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI::fiber {

/// Thrown by await() in a fiber whose task was asked to stop, so that the destructors on its stack
/// run. It is no std::exception: `catch (const std::exception&)` lets it pass. Whoever catches it
/// by `catch (...)` throws it on; if not, every later await() throws it again. Only fiber::await()
/// makes one. Where it leaves the fiber's function the task counts as stopped, not as failed.
class [[gnu::visibility("default")]] cancelled {
  friend class own_stack;
  cancelled() = default;
};

}  // namespace skua::inline SKUA_ABI::fiber
