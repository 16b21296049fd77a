// src/coro/await_chain.cpp: follow the continuations from the innermost frame to the root.
#include "skua/coro/await_chain.hpp"

#include "skua/coro/promise_base.hpp"

#include <cstring>

namespace skua::inline SKUA_ABI {

std::size_t walk_await_chain(const context_base& suspended, await_frame* out,
                             std::size_t room) noexcept {
  std::size_t length = 0;
  for (frame_handle at = suspended.resume_point; at != nullptr; at = at.promise().continuation) {
    if (length < room) {
      // Both compilers begin a frame with the address of its resume function.
      const void* resume_function = nullptr;
      std::memcpy(&resume_function, at.address(), sizeof resume_function);
      out[length] = await_frame{at.address(), resume_function};
    }
    ++length;
  }
  return length;
}

}  // namespace skua::inline SKUA_ABI
