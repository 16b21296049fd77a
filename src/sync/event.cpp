// src/sync/event.cpp: let all go on, or wait in line.
#include "skua/sync/event.hpp"

namespace skua::inline SKUA_ABI {

void event::set() noexcept {
  wait_line::granted all;
  {
    const short_hold hold(line_.lock());
    set(all);
  }
  all.complete();
}

void event::reset() noexcept {
  const short_hold hold(line_.lock());
  is_set_ = false;
}

bool event::is_set() noexcept {
  const short_hold hold(line_.lock());
  return is_set_;
}

void event::waiting::start() noexcept {
  {
    const short_hold hold(of_.line_.lock());
    if (!of_.is_set_) return of_.line_.join(*this);
  }
  end_at_once();
}

cancel_answer event::waiting::cancel() noexcept {
  const short_hold hold(of_.line_.lock());
  return of_.line_.leave(*this) ? cancel_answer::detached : cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
