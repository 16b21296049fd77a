// src/driver/process_barrier.hpp: a memory barrier in all threads of the process at once.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>

namespace skua::inline SKUA_ABI {

/// An asymmetric barrier: light() costs nothing and is for the side that runs often, heavy() a
/// system call (some microseconds, and an interrupt of each core that runs us) for the side that
/// does not. If heavy() comes first, what precedes it is visible after light(); if light() does,
/// what precedes that is visible after heavy().
struct process_barrier {
  /// True if the kernel does it (membarrier, Linux 4.14; a container may forbid it). Registers the
  /// process at the first call. From any thread.
  ///
  /// Where it is false heavy() is a fence of the calling thread only, and light() may overlook what
  /// came before it: whoever relies on the pair must look again from time to time as well.
  [[nodiscard]] static bool available() noexcept;

  static void heavy() noexcept;

  static void light() noexcept {
    // order: [process.barrier] seq_cst: with heavy(); the compiler keeps the two sides apart.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
};

}  // namespace skua::inline SKUA_ABI
