// src/coro/drive_turn.hpp: the usual turn of a context, for those that have many.
#pragma once

#include "skua/coro/context.hpp"

namespace skua::inline SKUA_ABI {

inline void context::run_frames() noexcept {
  // With symmetric transfer one turn does it; with the trampoline each hand-over is a turn.
  do {
    now = phase::running;
    resume_point.resume();
  } while (now == phase::running);
}

// The usual turn: the frames run, and then wait, give way or have ended. What else may happen is
// apart, so that this needs few registers, and no turn pays for the others.
[[gnu::always_inline]] inline progress context::drive_turn() noexcept {
  if (now == phase::postponed) [[unlikely]]
    return drive_postponed();
  // A root that is stopped before it starts never runs a line; one that gave way learns of it here.
  const bool at_rest = now <= phase::yielded;
  if (at_rest ? word_.stop_visible() : word_.take_unwind()) [[unlikely]]
    return drive_on(true);
  run_frames();
  if (now == phase::ended) return progress::returned;
  if (now <= phase::stepped) return progress::gives_way;
  if (now == phase::stopped) [[unlikely]]
    return drive_on(true);
  const auto published = word_.publish();
  if (published == publication::parked) [[likely]]
    return progress::parked;  // *this belongs to others now
  return drive_ready(published);
}

}  // namespace skua::inline SKUA_ABI
