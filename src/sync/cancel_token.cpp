// src/sync/cancel_token.cpp: wait in the line of a node until that is cancelled.
#include "skua/sync/cancel_token.hpp"

namespace skua::inline SKUA_ABI {

// The flag is set before the line is emptied, and that is done under the line's lock: who joins it
// has not missed anything.
void cancel_token::cancelled_wait::start() noexcept {
  if (of_ == nullptr) return;
  {
    const short_hold hold(of_->line().lock());
    if (!of_->is_cancelled()) return of_->line().join(*this);
  }
  grant();
  complete();
}

cancel_answer cancel_token::cancelled_wait::cancel() noexcept {
  if (of_ == nullptr) return cancel_answer::detached;
  const short_hold hold(of_->line().lock());
  return of_->line().leave(*this) ? cancel_answer::detached : cancel_answer::pending;
}

}  // namespace skua::inline SKUA_ABI
