// src/driver/process_barrier.cpp: membarrier, or fences without it.
#include "driver/process_barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace skua::inline SKUA_ABI {
namespace {

bool membarrier(int command) noexcept {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

constinit std::atomic<process_barrier::method> process_barrier::now_{method::fences};

bool process_barrier::available() noexcept {
  static const bool registered = [] {
    if (!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) return false;
    // order: none; a light() that does not see it yet is a fence, which is more than is needed.
    now_.store(method::kernel, std::memory_order_relaxed);
    return true;
  }();
  return registered && !may_overlook();
}

void process_barrier::heavy() noexcept {
  // order: [process.barrier] seq_cst: the caller's own side, for the compiler and, where the kernel
  //        does not help, for the processor.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!available()) return;
  if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
    // order: none; see may_overlook().
    now_.store(method::refused, std::memory_order_relaxed);
    return;
  }
  // order: [process.barrier] seq_cst: the compiler moves nothing up across the system call.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace skua::inline SKUA_ABI
