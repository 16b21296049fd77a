// src/sync/notify.cpp: one goes on, or all, or it is remembered.
#include "skua/sync/notify.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

void notify::notify_one() noexcept {
  waiter* one = nullptr;
  {
    const short_hold hold(line_.lock());
    if (line_.empty()) {
      remembered_ = true;
      return;
    }
    one = &line_.grant_first();
  }
  one->complete();
}

void notify::notify_all() noexcept {
  wait_line::granted all;
  {
    const short_hold hold(line_.lock());
    while (waiter* const first = line_.first()) {
      static_cast<waiting*>(first)->passes_on_ = false;
      line_.grant_first(all);
    }
  }
  all.complete();
}

bool notify::try_wait() noexcept {
  const short_hold hold(line_.lock());
  return std::exchange(remembered_, false);
}

void notify::waiting::start() noexcept {
  {
    const short_hold hold(of_.line_.lock());
    if (!std::exchange(of_.remembered_, false)) return of_.line_.join(*this);
  }
  end_at_once();
}

cancel_answer notify::waiting::cancel() noexcept {
  const short_hold hold(of_.line_.lock());
  return of_.line_.leave(*this) ? cancel_answer::detached : cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
