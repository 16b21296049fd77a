// src/base/short_lock.cpp: what to do when somebody else is inside.
#include "skua/base/short_lock.hpp"

#include <sched.h>
#include <ctime>

namespace skua::inline SKUA_ABI {
namespace {

void leave_it_alone_for(int rounds) noexcept {
  for (int i = 0; i < rounds; ++i) asm volatile("");  // a clock cycle each
}

// The kernel took the holder's processor away: give it ours, then come back now and then.
void give_up_the_processor(int time) noexcept {
  constexpr int yields = 8;
  constexpr long sleep = 20'000;  // nanoseconds
  if (time < yields) {
    ::sched_yield();
    return;
  }
  const timespec moment{.tv_sec = 0, .tv_nsec = sleep};
  ::nanosleep(&moment, nullptr);
}

}  // namespace

// Who holds it is about to let go, unless the kernel took its processor away. It will want it again
// soon: every look takes the line away from it, so the looks get rarer, and the other does several
// things meanwhile for what moving the line to and fro costs. For the same reason the first look is
// half a microsecond away: who comes back sooner has the lock as often, and pays more for it.
void short_lock::wait_and_lock() noexcept {
  constexpr int longest = 16'384;
  constexpr int looks = 5;
  int pause = 2'048;
  for (int i = 0; i < looks; ++i) {
    leave_it_alone_for(pause);
    if (pause < longest) pause *= 2;
    // order: none; try_lock() decides.
    if (word_.load(std::memory_order_relaxed) == free && try_lock()) return;
  }
  for (int time = 0; !try_lock(); ++time) give_up_the_processor(time);
}

}  // namespace skua::inline SKUA_ABI
