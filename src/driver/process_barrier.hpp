// src/driver/process_barrier.hpp: a memory barrier in all threads of the process at once.
#pragma once

#include "skua/base/abi.hpp"

#include <atomic>
#include <cstdint>

namespace skua::inline SKUA_ABI {

/// An asymmetric barrier: light() costs next to nothing and is for the side that runs often,
/// heavy() a system call (some microseconds, and an interrupt of each core that runs us) for the
/// side that does not. If heavy() comes first, what precedes it is visible after light(); if
/// light() does, what precedes that is visible after heavy().
///
/// Where the kernel does not help (membarrier, Linux 4.14; a container may forbid it) both sides
/// are fences.
struct process_barrier {
  /// True if the kernel helps. Registers the process at the first call. From any thread.
  static bool available() noexcept;

  /// False if the kernel has just stopped to help: see may_overlook(). A moment later, when no
  /// light() is under way any more that knows nothing of that, both sides are fences.
  static bool heavy() noexcept;

  static void light() noexcept {
    // order: none; see heavy() for a change.
    if (now_.load(std::memory_order_relaxed) == method::kernel) [[likely]]
      // order: [process.barrier] seq_cst: with heavy(); the compiler keeps the two sides apart.
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      // order: [process.barrier] seq_cst: with heavy(), which is a fence as well then.
      std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// True once the kernel has stopped to help (a process that locks itself in after the start):
  /// then a light() that was under way may have overlooked what came before it. Whoever relies on
  /// the pair must look again from time to time, or leave alone what it looked for when heavy()
  /// says false.
  [[nodiscard]] static bool may_overlook() noexcept {
    // order: none; a number that stands for itself.
    return now_.load(std::memory_order_relaxed) >= method::refusing;
  }

private:
  /// In this order, or the first alone.
  enum class method : unsigned char {
    fences,
    kernel,
    refusing,  // for a moment: some light() may not know yet
    refused,   // as fences, and for ever
  };
  static bool fences_hold() noexcept;
  static void become_fences() noexcept;

  static std::atomic<method> now_;
  static std::atomic<std::int64_t> refused_at_;
};

}  // namespace skua::inline SKUA_ABI
