// src/sync/mutex.cpp: wait in line, leave it, and pass the mutex on.
#include "skua/sync/mutex.hpp"

namespace skua::inline SKUA_ABI {

void mutex::lock_wait::start() noexcept {
  bool at_once = false;
  {
    const short_hold hold(of_.line_.lock());
    at_once = of_.word_.lock_or_wait();
    if (!at_once) of_.line_.join(*this);
  }
  if (!at_once) return;
  grant();
  complete();
}

cancel_answer mutex::lock_wait::cancel() noexcept {
  const short_hold hold(of_.line_.lock());
  if (!of_.line_.leave(*this)) return cancel_answer::pending;
  if (of_.line_.empty()) of_.word_.line_is_empty();
  return cancel_answer::detached;
}

// Who waited may all have left again since the caller looked.
void mutex::unlock_for_next() noexcept {
  wait_line::granted next;
  {
    const short_hold hold(line_.lock());
    if (line_.empty()) return word_.unlock();
    line_.grant_first(next);
    if (line_.empty()) word_.line_is_empty();
  }
  next.complete();
}

}  // namespace skua::inline SKUA_ABI
