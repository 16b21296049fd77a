// src/sync/semaphore.cpp: wait in line for permits, leave it, and serve those who are in it.
#include "skua/sync/semaphore.hpp"

namespace skua::inline SKUA_ABI {

void semaphore::acquire_wait::start() noexcept {
  using answer = semaphore_word<std_atomics>::answer;
  {
    const short_hold hold(of_.line_.lock());
    const answer how = of_.word_.acquire_or_wait(count_);
    if (how == answer::waits) return of_.line_.join(*this);
    refused_ = how == answer::closed;
  }
  end_at_once();
}

// Those behind may have waited for this one only.
cancel_answer semaphore::acquire_wait::cancel() noexcept {
  wait_line::granted next;
  {
    const short_hold hold(of_.line_.lock());
    if (!of_.line_.leave(*this)) return cancel_answer::pending;
    of_.serve(next);
  }
  next.complete();
  return cancel_answer::detached;
}

void semaphore::acquire_wait::give_back() noexcept {
  if (!refused_) of_.add_permits(count_);
}

// If those who waited have left since the caller looked, it is done as if nobody had ever waited,
// and not under the lock: whoever takes the permits then may be the last, and destroy it.
void semaphore::release_in_line(std::size_t count) noexcept {
  wait_line::granted next;
  for (;;) {
    {
      const short_hold hold(line_.lock());
      if (!line_.empty()) {
        word_.release(count);
        serve(next);
        break;
      }
    }
    if (word_.try_release(count)) return;
  }
  next.complete();
}

// Under the lock: as many as there are permits for, in order.
void semaphore::serve(wait_line::granted& to) noexcept {
  while (waiter* const first = line_.first()) {
    if (!word_.acquire_in_line(static_cast<acquire_wait*>(first)->count_)) return;
    line_.grant_first(to);
  }
  word_.line_is_empty();
}

void semaphore::close() noexcept {
  wait_line::granted refused;
  {
    const short_hold hold(line_.lock());
    word_.close();
    while (waiter* const first = line_.first()) {
      static_cast<acquire_wait*>(first)->refused_ = true;
      line_.grant_first(refused);
    }
    word_.line_is_empty();
  }
  refused.complete();
}

}  // namespace skua::inline SKUA_ABI
