// src/runtime/signals.cpp: add to the thread's mask.
#include "runtime/signals.hpp"

#include "skua/base/check.hpp"

#include <signal.h>
#include <time.h>

namespace skua::inline SKUA_ABI {
namespace {

sigset_t only_sigpipe() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

/// What the thread had blocked before.
sigset_t change_mask(int how) noexcept {
  const sigset_t set = only_sigpipe();
  sigset_t before;
  check(::pthread_sigmask(how, &set, &before) == 0, "any thread may block SIGPIPE");
  return before;
}

}  // namespace

void block_sigpipe_in_this_thread() noexcept {
  change_mask(SIG_BLOCK);
}

sigpipe_pause::sigpipe_pause() noexcept {
  const sigset_t before = change_mask(SIG_BLOCK);
  ends_ = sigismember(&before, SIGPIPE) == 0;
}

sigpipe_pause::~sigpipe_pause() {
  if (!ends_) return;
  const sigset_t set = only_sigpipe();
  const timespec at_once{};
  sigset_t pending;
  if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1)
    ::sigtimedwait(&set, nullptr, &at_once);
  change_mask(SIG_UNBLOCK);
}

}  // namespace skua::inline SKUA_ABI
