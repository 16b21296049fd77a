// src/runtime/signals.cpp: add to the thread's mask.
#include "runtime/signals.hpp"

#include "skua/base/check.hpp"

#include <signal.h>

namespace skua::inline SKUA_ABI {

void block_sigpipe_in_this_thread() noexcept {
  sigset_t only_sigpipe;
  sigemptyset(&only_sigpipe);
  sigaddset(&only_sigpipe, SIGPIPE);
  check(::pthread_sigmask(SIG_BLOCK, &only_sigpipe, nullptr) == 0, "any thread may block SIGPIPE");
}

}  // namespace skua::inline SKUA_ABI
