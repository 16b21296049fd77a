// src/sync/barrier.cpp: the last to arrive lets all pass.
#include "skua/sync/barrier.hpp"

namespace skua::inline SKUA_ABI {

void barrier::arrival::start() noexcept {
  wait_line::granted all;
  {
    const short_hold hold(of_.line_.lock());
    if (of_.arrived_ + 1 < of_.count_) {
      ++of_.arrived_;
      return of_.line_.join(*this);
    }
    of_.arrived_ = 0;
    of_.line_.grant_all(all);
  }
  last_ = true;
  all.complete();
  end_at_once();
}

cancel_answer barrier::arrival::cancel() noexcept {
  const short_hold hold(of_.line_.lock());
  if (!of_.line_.leave(*this)) return cancel_answer::pending;
  --of_.arrived_;
  return cancel_answer::detached;
}

}  // namespace skua::inline SKUA_ABI
