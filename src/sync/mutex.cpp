// src/sync/mutex.cpp: wait in line, leave it, and pass the mutex on.
#include "skua/sync/mutex.hpp"

#include "skua/coro/context.hpp"

#include <new>
#include <utility>

namespace skua::inline SKUA_ABI {

bool mutex::lock_or_join(line_wait& who, call how) noexcept {
  const short_hold hold(line_.lock());
  if (word_.lock_or_wait(line_.empty())) return true;
  who.call_ = how;
  line_.join(who);
  return false;
}

bool mutex::join_others(line_wait& who) noexcept {
  const short_hold hold(line_.lock());
  const auto* const first = static_cast<const line_wait*>(line_.first());
  if (first == nullptr || !first->comes_as_soon_as(who)) return false;
  who.call_ = call::waits;
  line_.join(who);
  return true;
}

bool mutex::leave(line_wait& who) noexcept {
  const short_hold hold(line_.lock());
  if (who.call_ == call::told) {
    who.call_ = call::gives_up;  // it is in a queue, and leaves the line when it comes
    return false;
  }
  if (!line_.leave(who)) return false;
  if (line_.empty()) word_.line_is_empty();
  return true;
}

// Under the lock, by the holder.
void mutex::grant_first(wait_line::granted& to) noexcept {
  line_.grant_first(to);
  if (line_.empty()) word_.line_is_empty();
}

// Under the lock, by the holder; somebody is in line. Gives who is to be told.
mutex::line_wait* mutex::open_or_grant(wait_line::granted& to) noexcept {
  auto& first = static_cast<line_wait&>(*line_.first());
  if (first.call_ == call::insists) {
    grant_first(to);
    return nullptr;
  }
  first.call_ = call::told;
  word_.open_for_first();
  return &first;
}

// Who waited may all have left since the caller looked. Then it is unlocked as if nobody had ever
// waited, and not under the lock: whoever gets it then may be the last, and destroy it. One that is
// told keeps the mutex alive, and cannot come before it was told.
void mutex::unlock_for_next() noexcept {
  wait_line::granted next;
  line_wait* first = nullptr;
  while (!word_.try_unlock()) {
    const short_hold hold(line_.lock());
    check(word_.is_held(), "a mutex is unlocked by who holds it");
    if (line_.empty()) continue;
    first = open_or_grant(next);
    break;
  }
  next.complete();
  if (first != nullptr) first->tell();
}

// The first in line, in a turn of its own, without its task: that goes on when it has the mutex.
void mutex::came(line_wait& who) noexcept {
  wait_line::granted next;
  bool got = false;
  bool gives_up = false;
  {
    const short_hold hold(line_.lock());
    got = word_.lock_for_first();
    gives_up = std::exchange(who.call_, call::insists) == call::gives_up;
    if (gives_up) {
      check(line_.leave(who), "who was told is in line until it comes");
      if (line_.empty()) word_.line_is_empty();
    } else if (got) {
      grant_first(next);
    }
  }
  next.complete();
  if (!gives_up) return;
  if (got) unlock();
  who.complete_cancelled();
}

bool mutex::lock_place::wait(frame_handle self, bool counted) noexcept {
  auto prepare = [this, self] { come_when_told(of_, self); };
  if (!counted) return wait_unless([this] { return of_.word_.try_lock(); }, self, prepare);
  line_wait::wait(self, prepare);
  return true;
}

bool mutex::lock_wait::wait(frame_handle self, bool counted) noexcept {
  if (!has_place_) ::new (&place_) lock_place(of_);
  has_place_ = true;
  return place_.wait(self, counted);
}

void mutex::lock_wait::end_place() noexcept {
  place_.~lock_place();
}

// One who runs elsewhere may have been told and not come for long, while the mutex is free. Who
// insists may have no summons: it is handed the mutex.
bool mutex::line_wait::comes_as_soon_as(const line_wait& other) const noexcept {
  const auto home = [](const line_wait& of) {
    return &static_cast<context&>(*of.summons_.task.promise().context).home();
  };
  return call_ == call::insists || home(*this) == home(other);
}

void mutex::line_wait::tell() noexcept {
  static_cast<context&>(*summons_.task.promise().context).home().schedule(summons_);
}

void mutex::line_wait::summons::come(work& item) noexcept {
  auto& self = static_cast<summons&>(item);
  self.to.came(self.who);
}

}  // namespace skua::inline SKUA_ABI
