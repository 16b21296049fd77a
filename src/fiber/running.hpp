// src/fiber/running.hpp: which fiber the calling thread runs.
#pragma once

#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI::fiber {

class own_stack;

/// The calling thread's own place for it; null: none. Never inlined, and asked anew each time: a
/// fiber may be on another thread after an await, and the compiler must not remember where it was.
[[gnu::noinline]] own_stack*& running_here() noexcept;

}  // namespace skua::inline SKUA_ABI::fiber
