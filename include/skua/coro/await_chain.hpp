// skua/coro/await_chain.hpp: who awaits whom in a suspended context.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/context_base.hpp"

#include <cstddef>

namespace skua::inline SKUA_ABI {

/// One suspended coroutine. The resume function's address names its source line to a symboliser.
struct await_frame {
  const void* frame;            ///< its address, which tells two calls of one function apart
  const void* resume_function;  ///< code of the coroutine
};

/// Writes the frames of `suspended` to `out`, innermost first, at most `room` of them; returns how
/// many there are. The caller makes sure that nobody resumes the context meanwhile.
[[gnu::visibility("default")]] std::size_t walk_await_chain(const context_base& suspended,
                                                            await_frame* out,
                                                            std::size_t room) noexcept;

}  // namespace skua::inline SKUA_ABI
