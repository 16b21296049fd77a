// src/driver/process_barrier.cpp: membarrier, or fences without it.
#include "driver/process_barrier.hpp"

#include "skua/base/clock.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>

namespace skua::inline SKUA_ABI {
namespace {

bool membarrier(int command) noexcept {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

constinit std::atomic<process_barrier::method> process_barrier::now_{method::fences};
constinit std::atomic<std::int64_t> process_barrier::refused_at_{
    std::numeric_limits<std::int64_t>::max()};

bool process_barrier::available() noexcept {
  static const bool registered = [] {
    if (!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) return false;
    // order: none; a light() that does not see it yet is a fence, which is more than is needed.
    now_.store(method::kernel, std::memory_order_relaxed);
    return true;
  }();
  return registered && !may_overlook();
}

// A processor shows what it has written within microseconds, or when it goes on with another
// thread. So after a moment whoever has not seen the change has shown what it did before its
// light(). By the clock, and not by who was refused: the process may fork meanwhile.
bool process_barrier::fences_hold() noexcept {
  constexpr std::int64_t moment = 1'000'000;  // nanoseconds
  // order: none; a number that stands for itself.
  if (now_.load(std::memory_order_relaxed) != method::refusing) return true;
  // order: [process.refused] acquire: the change, which came before this time was taken.
  const std::int64_t since = refused_at_.load(std::memory_order_acquire);
  if (monotonic_clock().now() - since < moment) return false;
  // order: none; both mean fences.
  now_.store(method::refused, std::memory_order_relaxed);
  return true;
}

void process_barrier::become_fences() noexcept {
  // order: none; the fence comes after it.
  now_.store(method::refusing, std::memory_order_relaxed);
  // order: [process.refused] seq_cst: the change is there when the clock is asked. So each time
  //        that is ever stored is later than the first change, whoever else is refused meanwhile.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // order: [process.refused] release: the change.
  refused_at_.store(monotonic_clock().now(), std::memory_order_release);
}

bool process_barrier::heavy() noexcept {
  // order: [process.barrier] seq_cst: the caller's own side, for the compiler and, where the kernel
  //        does not help, for the processor.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!available()) return fences_hold();
  if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
    become_fences();
    return false;
  }
  // order: [process.barrier] seq_cst: the compiler moves nothing up across the system call.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return true;
}

}  // namespace skua::inline SKUA_ABI
