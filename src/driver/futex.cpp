// src/driver/futex.cpp: the system call, with an absolute time.
#include "driver/futex.hpp"

#include "driver/deferred_signals.hpp"
#include "skua/base/check.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/sanitizer.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace skua::inline SKUA_ABI {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
              std::atomic<std::uint32_t>::is_always_lock_free);

namespace {

std::int64_t latest_end(std::int64_t deadline) noexcept {
  if constexpr (!built_with_tsan) return deadline;
  const std::int64_t now = monotonic_clock().now();
  return now + limit_of_sleep(deadline - now);
}

}  // namespace

bool process_futex::wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                         std::int64_t deadline) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t latest = latest_end(deadline);
  const std::int64_t when = std::max<std::int64_t>(latest, 0);  // the kernel refuses others
  const timespec until = {.tv_sec = when / second, .tv_nsec = when % second};
  // WAIT takes a duration, WAIT_BITSET a point in time: nothing to compute again after a signal.
  const long done =
      syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
              latest == no_deadline ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  const int reason = errno;
  run_deferred_signals();
  if (done == 0) return true;
  if (reason == ETIMEDOUT) return latest != deadline;
  check(reason == EAGAIN || reason == EINTR, "the kernel can wait on a word of ours");
  return true;
}

bool process_futex::wake_one(std::atomic<std::uint32_t>& word) noexcept {
  // Fails only if the word is gone, and then nobody sleeps on it.
  return syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0) == 1;
}

}  // namespace skua::inline SKUA_ABI
