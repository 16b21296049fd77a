// src/coro/yield.cpp: tells the run function to queue the task again.
#include "skua/coro/yield.hpp"

#include "skua/coro/context.hpp"

namespace skua::inline SKUA_ABI {

void give_way(frame_handle self) noexcept {
  auto& running = static_cast<context&>(*self.promise().context);
  running.resume_point = self;
  running.now = running.stop_requested() ? phase::stopped : phase::yielded;
}

}  // namespace skua::inline SKUA_ABI
