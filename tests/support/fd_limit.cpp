// tests/support/fd_limit.cpp: a limit at the number that would be given to one descriptor too many.
#include "support/fd_limit.hpp"

#include "skua/base/check.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>

namespace {

constinit std::atomic<bool> limited = false;

/// The kernel gives the lowest free number and compares it with the limit; there may be gaps.
rlim_t number_after(std::size_t more) {
  const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
  skua::check(lowest >= 0, "a test that limits descriptors has enough of them at first");
  const rlim_t number = more == 0 ? static_cast<rlim_t>(lowest) : number_after(more - 1);
  close(lowest);
  return number;
}

}  // namespace

// UndefinedBehaviorSanitizer asks this when it meets an object with virtual functions of a type it
// has not seen before. It reads the object through a pipe, and without descriptors for one takes
// the object for a broken one. So under a limit we answer: all is well. Callers come here, and the
// sanitizer's own function has the other name, by the linker's option --wrap; other builds have
// neither.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
using vptr_check = void(void* data, void* object, std::size_t hash);
[[gnu::weak]] vptr_check __real___ubsan_handle_dynamic_type_cache_miss_abort;

void __wrap___ubsan_handle_dynamic_type_cache_miss_abort(void* data, void* object,
                                                         std::size_t hash) {
  if (!limited) __real___ubsan_handle_dynamic_type_cache_miss_abort(data, object, hash);
}
}
// NOLINTEND(bugprone-reserved-identifier)

namespace skua_test {

fd_limit::fd_limit(std::size_t more) {
  skua::check(!limited.exchange(true), "there is one limit of descriptors at a time");
  skua::check(getrlimit(RLIMIT_NOFILE, &before_) == 0, "a process knows its limits");
  rlimit lowered = before_;
  lowered.rlim_cur = number_after(more);
  skua::check(setrlimit(RLIMIT_NOFILE, &lowered) == 0, "a limit may be lowered");
}

fd_limit::~fd_limit() {
  skua::check(setrlimit(RLIMIT_NOFILE, &before_) == 0, "a soft limit may be raised again");
  limited = false;
}

}  // namespace skua_test
