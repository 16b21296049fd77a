// src/sync/condition_variable.cpp: from our line into that of the mutex.
//
// Where both locks are held, ours was taken first.
#include "skua/sync/condition_variable.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

// Who was moved into the line of the mutex may be resumed, and come here, while the one who moved
// it still holds our lock.
condition_variable::~condition_variable() {
  const short_hold hold(line_.lock());
  check(line_.empty(), "a condition_variable is destroyed while nobody waits");
}

void condition_variable::waiting::start() noexcept {
  check(static_cast<bool>(held_), "to wait for a condition_variable a task holds a mutex");
  if (std::exchange(notified_, false) && passes_on_) of_.notify_one();  // stopped last time
  passes_on_ = true;
  mutex_ = held_.release();
  {
    const short_hold hold(of_.line_.lock());
    of_.line_.join(*this);
  }
  mutex_->unlock();
}

cancel_answer condition_variable::waiting::cancel() noexcept {
  const short_hold hold(of_.line_.lock());
  const bool left = notified_ ? mutex_->leave(*this) : of_.line_.leave(*this);
  return left ? cancel_answer::detached : cancel_answer::pending;
}

// It was notified, and is unwound all the same.
void condition_variable::waiting::give_back() noexcept {
  if (is_granted()) mutex_->unlock();
  if (passes_on_) of_.notify_one();
}

// Under our lock. Once it is in the line of the mutex it may be gone at any time.
void condition_variable::move_first(wait_line::granted& to) noexcept {
  waiting& one = static_cast<waiting&>(line_.take_first());
  one.notified_ = true;
  if (one.mutex_->lock_or_join(one, mutex::call::insists)) wait_line::grant(one, to);
}

void condition_variable::notify_one() noexcept {
  wait_line::granted one;
  {
    const short_hold hold(line_.lock());
    if (!line_.empty()) move_first(one);
  }
  one.complete();
}

void condition_variable::notify_all() noexcept {
  wait_line::granted first;  // the others find the mutex taken
  {
    const short_hold hold(line_.lock());
    while (waiter* const next = line_.first()) {
      static_cast<waiting*>(next)->passes_on_ = false;
      move_first(first);
    }
  }
  first.complete();
}

}  // namespace skua::inline SKUA_ABI
