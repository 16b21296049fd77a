// src/driver/uring/ring.hpp: one io_uring: its two queues and the call between them.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

#include <liburing.h>
#include <pthread.h>

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>

namespace skua::inline SKUA_ABI {

/// What is needed to make one.
struct ring_size {
  std::uint32_t submissions = 256;   // rounded up to a power of two by the kernel
  std::uint32_t completions = 2048;  // likewise; more than that at once cost a system call
};

/// Who may enter a ring.
enum class ring_use : unsigned char {
  any_thread,  ///< COOP_TASKRUN: completions are posted when their thread next enters the kernel
  one_thread,  ///< SINGLE_ISSUER, DEFER_TASKRUN: they wait for a call of the one that took it over
};

/// A ring that every thread may enter, or one only: see ring_use. Its two queues are in memory
/// that the kernel shares; *the lock* of whoever owns the ring covers our side of them. enter()
/// needs no lock, and several threads may be in it, if several may enter.
///
/// liburing makes and unmakes it. The rest is ours, since liburing keeps a tail of its own: here
/// each entry is visible to the kernel as soon as it is filled, so that any thread can submit it.
class ring {
public:
  /// Made, and seen to work: one NOP was submitted and has come back. Otherwise an errno.
  /// For one thread, it is one of the same kind that was seen to work, and nobody may enter before
  /// take_over(). Where the kernel has no such rings (before 6.1) it is one for any thread.
  [[nodiscard]] static std::expected<std::unique_ptr<ring>, int> make(
      const ring_size& wanted, ring_use by = ring_use::any_thread);
  ~ring();
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  // Under the lock.

  /// An entry, all zero, to be filled and published; null if there is no room.
  [[nodiscard]] io_uring_sqe* next_entry() noexcept;
  void publish() noexcept {
    // order: [uring.submit] release: the entry, to the kernel. Its side is in the kernel.
    std::atomic_ref(*ring_.sq.ktail).store(++tail_, std::memory_order_release);
  }
  [[nodiscard]] bool has_room() const noexcept { return unsubmitted() < ring_.sq.ring_entries; }
  /// How many entries the kernel has not taken yet.
  [[nodiscard]] std::uint32_t unsubmitted() const noexcept {
    // order: [uring.submit] acquire: the kernel has read what was there before.
    return tail_ - std::atomic_ref(*ring_.sq.khead).load(std::memory_order_acquire);
  }

  /// Calls `take` with each completion that is there, but not with more than `most`. Their number.
  template <typename Take>
  std::size_t reap(std::size_t most, Take&& take) noexcept {
    const std::atomic_ref head(*ring_.cq.khead);
    // order: none; only we write it.
    std::uint32_t next = head.load(std::memory_order_relaxed);
    std::size_t taken = 0;
    for (std::uint32_t last = completed(); next != last && taken < most; last = completed()) {
      for (; next != last && taken < most; ++next, ++taken)
        take(ring_.cq.cqes[next & ring_.cq.ring_mask]);
      // order: [uring.reap] release: the kernel may write there again. Its side is in the kernel.
      head.store(next, std::memory_order_release);
    }
    return taken;
  }
  [[nodiscard]] bool has_completions() const noexcept {
    // order: none; only we write it.
    return std::atomic_ref(*ring_.cq.khead).load(std::memory_order_relaxed) != completed();
  }

  /// By the thread that is to enter it from now on, alone if it is for one; once.
  void take_over() noexcept;
  /// True if the calling thread may enter.
  [[nodiscard]] bool may_enter() const noexcept {
    return use_ == ring_use::any_thread || ::pthread_equal(::pthread_self(), only_) != 0;
  }

  // Anybody.

  [[nodiscard]] ring_use use() const noexcept { return use_; }

  /// The kernel has completions that it can only post during a call.
  [[nodiscard]] bool wants_call() const noexcept {
    // order: none; a hint, and the call orders.
    return (std::atomic_ref(*ring_.sq.kflags).load(std::memory_order_relaxed) &
            (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
  }

  /// Submits up to `count` entries and posts what has completed; then, unless `wait` is 0, waits so
  /// many nanoseconds for a completion. The number submitted, or a negated errno: EINTR, ETIME,
  /// EAGAIN, EBUSY say to look again. Other errors mean that the ring is broken.
  int enter(std::uint32_t count, std::int64_t wait) noexcept;

  [[nodiscard]] bool supports(std::uint8_t code) const noexcept { return known_[code]; }
  [[nodiscard]] int fd() const noexcept { return ring_.ring_fd; }
  [[nodiscard]] std::uint32_t submission_entries() const noexcept { return ring_.sq.ring_entries; }
  [[nodiscard]] std::uint32_t completion_entries() const noexcept { return ring_.cq.ring_entries; }

private:
  int call(std::uint32_t count, std::int64_t wait) noexcept;
  ring() = default;
  [[nodiscard]] static std::expected<std::unique_ptr<ring>, int> make_with(const ring_size& wanted,
                                                                           std::uint32_t flags);
  [[nodiscard]] static std::expected<std::unique_ptr<ring>, int> make_for_one(
      const ring_size& wanted);
  [[nodiscard]] int open(const ring_size& wanted, std::uint32_t flags);
  [[nodiscard]] int try_nop() noexcept;
  [[nodiscard]] int probe();
  [[nodiscard]] std::uint32_t completed() const noexcept {
    // order: [uring.reap] acquire: the completions. The kernel releases them.
    return std::atomic_ref(*ring_.cq.ktail).load(std::memory_order_acquire);
  }

  mutable io_uring ring_{};
  bool made_ = false;
  ring_use use_ = ring_use::any_thread;
  pthread_t only_{};        // of one for one thread, once taken over
  std::uint32_t tail_ = 0;  // as published
  std::bitset<256> known_;  // op codes
};

}  // namespace skua::inline SKUA_ABI
