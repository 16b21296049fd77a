// src/fiber/signal_stack.hpp: whether threads that run fibers need a second stack for signals.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>

namespace skua::inline SKUA_ABI::fiber {

/// Set once by explain_overflows(), never reset.
inline constinit std::atomic<bool> overflows_are_explained{false};

/// Gives the calling thread one until it ends, if it has none.
void have_signal_stack() noexcept;

}  // namespace skua::inline SKUA_ABI::fiber
