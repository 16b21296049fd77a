// src/driver/uring/uring_driver.hpp: operations through an io_uring.
#pragma once

#include "driver/alarm_event.hpp"
#include "driver/call_pace.hpp"
#include "driver/driver.hpp"
#include "driver/offload_target.hpp"
#include "driver/park_word.hpp"
#include "driver/timer_queue.hpp"
#include "driver/uring/ring.hpp"
#include "driver/wake_event.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/intrusive_list.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>

namespace skua::inline SKUA_ABI {

/// One mutex covers both queues of the ring, the timers and the lists; it is never held during a
/// system call that can take long. So a worker may poll() in place of an owner that is stuck:
/// submit what that prepared, reap what has completed, fire what is due.
///
/// The way of an operation:
///   submit()     into the ring if there is room, otherwise on `waiting_`; or to the pool if this
///                kernel's ring does not know it
///   call()       the kernel takes what is in the ring
///   reap()       its last completion takes it out: on the list of those that have ended
///   hand over    `done`, with no lock held
/// and of a cancellation, by cancel() or by the timeout:
///   cancel_wanted_  until there is room in the ring for the request
///   in the kernel   from then on the operation ends when both its last completion and the answer
///                   to the request are in: a late request cannot hit what comes after it
/// The address of an operation names it to the kernel, and of its cancellation with bit 0 set.
class uring_driver final : public driver {
public:
  /// `time` and `pool` outlive the driver. Otherwise an errno.
  [[nodiscard]] static std::expected<std::unique_ptr<uring_driver>, int> make(const ring_size& size,
                                                                              const clock& time,
                                                                              offload_target& pool);
  ~uring_driver() override;

  void poll() noexcept override;
  void look(std::size_t room) noexcept override;
  bool glance(std::size_t room) noexcept override;
  bool park(std::size_t room) noexcept override;
  bool wake() noexcept override;
  void set_alarm(std::int64_t nanoseconds) noexcept override { alarm_.set(nanoseconds); }
  void add(timer& item) noexcept override;
  bool remove(timer& item) noexcept override;
  void submit(operation& op) noexcept override;
  bool cancel(operation& op) noexcept override;

  [[nodiscard]] const ring& get_ring() const noexcept { return *ring_; }

private:
  /// Names to the kernel; no operation has such an address.
  enum name : std::uint64_t { cancel_bit = 1, waker = 2, alarm = 4 };

  /// What a look at the ring and the wheel brought.
  struct harvest {
    explicit harvest(std::size_t most) noexcept : room(most) {}
    std::size_t room;  // for so many more completions
    intrusive_list<operation> ended;
    intrusive_list<timer> due;
    bool took_wake = false;
    [[nodiscard]] bool empty() const noexcept { return ended.empty() && due.empty(); }
  };

  uring_driver(std::unique_ptr<ring> made, wake_event wakes, alarm_event rings, const clock& time,
               offload_target& pool) noexcept;

  // Under the lock.
  void begin(operation& op) noexcept;
  void offload(operation& op) noexcept;
  void refuse(operation& op, std::int32_t error) noexcept;
  bool put(operation& op) noexcept;
  void fill_ring() noexcept;
  void make_room(std::unique_lock<std::mutex>& hold) noexcept;  // without it meanwhile
  bool may_wait() noexcept;
  bool watch(int fd, name as, bool& watched) noexcept;
  void gather(harvest& into) noexcept;
  void reap(harvest& into) noexcept;
  void completed(operation& op, const io_uring_cqe& how, harvest& into) noexcept;
  void end(operation& op, harvest& into) noexcept;
  bool take_back(operation& op) noexcept;
  void let_go(operation& op) noexcept;
  void want_cancel(operation& op) noexcept;
  void expire(operation& op, harvest& into) noexcept;

  static void run_in_pool(pool_job& job) noexcept;
  void came_from_pool(operation& op) noexcept;
  void call(std::uint32_t count, std::int64_t wait) noexcept;
  bool drive(bool sleeps, std::size_t room) noexcept;
  static bool hand_over(harvest& from) noexcept;

  const std::unique_ptr<ring> ring_;
  const wake_event wakes_;
  const alarm_event alarm_;
  offload_target& pool_;
  park_word<std_atomics> word_;
  call_pace pace_;

  std::mutex mutex_;  // over all that follows
  timer_queue timers_;
  intrusive_list<operation> waiting_;        // for room in the ring
  intrusive_list<operation> cancel_wanted_;  // in the kernel; the request waits for room
  intrusive_list<operation> refused_;        // have their result, to be handed over
  bool waker_watched_ = false;
  bool alarm_watched_ = false;
};

}  // namespace skua::inline SKUA_ABI
