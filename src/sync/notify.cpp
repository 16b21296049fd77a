// src/sync/notify.cpp: one goes on, or all, or it is remembered.
#include "skua/sync/notify.hpp"

namespace skua::inline SKUA_ABI {
namespace {

/// Under the lock: whether it was set; it is not any more.
bool take_notification(std::atomic<bool>& flag) noexcept {
  // order: none; the lock orders.
  if (!flag.load(std::memory_order_relaxed)) return false;
  // order: none; see above.
  flag.store(false, std::memory_order_relaxed);
  return true;
}

}  // namespace

void notify::notify_one() noexcept {
  waiter* one = nullptr;
  {
    const short_hold hold(line_.lock());
    if (line_.empty()) {
      // order: none; the lock orders, and who looks without it takes nothing.
      remembered_.store(true, std::memory_order_relaxed);
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
  return take_notification(remembered_);
}

// Before a wait, which looks again under the lock: most often there is none, and no need for that
// here.
bool notify::take_at_once() noexcept {
  // order: none; see above.
  return remembered_.load(std::memory_order_relaxed) && try_wait();
}

void notify::waiting::start() noexcept {
  {
    const short_hold hold(of_.line_.lock());
    if (!take_notification(of_.remembered_)) return of_.line_.join(*this);
  }
  end_at_once();
}

cancel_answer notify::waiting::cancel() noexcept {
  const short_hold hold(of_.line_.lock());
  return of_.line_.leave(*this) ? cancel_answer::detached : cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
