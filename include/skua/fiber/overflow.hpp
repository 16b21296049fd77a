// skua/fiber/overflow.hpp: says which fiber it was when a stack overflows.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"

namespace skua::inline SKUA_ABI::fiber {

/// A fiber that runs into the guard of its stack is ended by SIGSEGV, with the whole process, in
/// any case. After this call that comes with a line on standard error, which names the fiber, the
/// place of its spawn and the size of its stack. Once, early in main(); again is nothing.
///
/// It is process-wide, which is why nobody does it unasked: sets the handler of SIGSEGV, and gives
/// each thread that runs fibers an alternate stack for signals, if it has none, until it ends. Any
/// other fault goes to the handler that was there before, as does this one after the line; with
/// none, the process ends as it would have. A handler that is set later replaces this one.
/// Errors: what sigaction(2) says.
[[gnu::visibility("default")]] result<void> explain_overflows() noexcept;

}  // namespace skua::inline SKUA_ABI::fiber
