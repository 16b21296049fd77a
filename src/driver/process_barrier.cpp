// src/driver/process_barrier.cpp: membarrier, or the best that is left without it.
#include "driver/process_barrier.hpp"

#include "skua/base/check.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace skua::inline SKUA_ABI {
namespace {

bool membarrier(int command) noexcept {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

bool process_barrier::available() noexcept {
  static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return registered;
}

void process_barrier::heavy() noexcept {
  // order: [process.barrier] seq_cst: the caller's own side, for the compiler and, where the kernel
  //        does not help, for the processor.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!available()) return;
  check(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), "a registered process can use its barrier");
  // order: [process.barrier] seq_cst: the compiler moves nothing up across the system call.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace skua::inline SKUA_ABI
