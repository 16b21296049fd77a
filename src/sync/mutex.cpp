// src/sync/mutex.cpp: wait in line, leave it, and pass the mutex on.
#include "skua/sync/mutex.hpp"

namespace skua::inline SKUA_ABI {

bool mutex::lock_or_join(waiter& who) noexcept {
  const short_hold hold(line_.lock());
  if (word_.lock_or_wait()) return true;
  line_.join(who);
  return false;
}

bool mutex::leave(waiter& who) noexcept {
  const short_hold hold(line_.lock());
  if (!line_.leave(who)) return false;
  if (line_.empty()) word_.line_is_empty();
  return true;
}

// Who waited may all have left since the caller looked. Then it is unlocked as if nobody had ever
// waited, and not under the lock: whoever gets it then may be the last, and destroy it.
void mutex::unlock_for_next() noexcept {
  wait_line::granted next;
  for (;;) {
    {
      const short_hold hold(line_.lock());
      check(!word_.is_free(), "a mutex is unlocked by who holds it");
      if (!line_.empty()) {
        line_.grant_first(next);
        if (line_.empty()) word_.line_is_empty();
        break;
      }
    }
    if (word_.try_unlock()) return;
  }
  next.complete();
}

}  // namespace skua::inline SKUA_ABI
