// src/driver/uring/uring_driver.hpp: operations through an io_uring.
#pragma once

#include "driver/kernel_driver.hpp"
#include "driver/offload_target.hpp"
#include "driver/uring/ring.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/intrusive_list.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>

namespace skua::inline SKUA_ABI {

/// The mutex covers our side of the ring's queues, too: a worker that drives in place of an owner
/// that is stuck submits what that prepared, and reaps what has completed.
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
class uring_driver final : public kernel_driver {
public:
  /// `time` and `pool` outlive the driver. Otherwise an errno.
  [[nodiscard]] static std::expected<std::unique_ptr<uring_driver>, int> make(
      const ring_size& size, const clock& time, offload_target& pool,
      ring_use by = ring_use::any_thread);
  ~uring_driver() override;

  void take_over() noexcept override { ring_->take_over(); }
  bool glance(std::size_t room) noexcept override;
  void submit(operation& op) noexcept override;
  bool cancel(operation& op) noexcept override;

  [[nodiscard]] const ring& get_ring() const noexcept { return *ring_; }

private:
  /// Names to the kernel; no operation has such an address.
  enum name : std::uint64_t { cancel_bit = 1, waker = 2, alarm = 4 };

  /// What a look at the ring and the wheel brought.
  struct reaping : harvest {
    explicit reaping(std::size_t most) noexcept : room(most) {}
    std::size_t room;  // for so many more completions
    bool took_wake = false;
  };

  uring_driver(std::unique_ptr<ring> made, wakers wakes, const clock& time,
               offload_target& pool) noexcept;

  // Under the lock.
  void begin(operation& op) noexcept;
  void refuse(operation& op, std::int32_t error) noexcept;
  bool put(operation& op) noexcept;
  void fill_ring() noexcept;
  void make_room(std::unique_lock<short_lock>& hold) noexcept;  // without it meanwhile
  bool may_wait() noexcept;
  bool left_for_a_sleeper() noexcept;
  bool watch(int fd, name as, bool& watched) noexcept;
  bool watch_for_wakes() noexcept;
  void gather(reaping& into) noexcept;
  void reap(reaping& into) noexcept;
  void completed(operation& op, const io_uring_cqe& how, harvest& into) noexcept;
  void end(operation& op, harvest& into) noexcept;
  bool take_back(operation& op) noexcept;
  void want_cancel(operation& op) noexcept;
  void expire(operation& op, harvest& into) noexcept override;

  void call(std::uint32_t count, std::int64_t wait) noexcept;
  bool drive(bool sleeps, std::size_t room) noexcept override;

  const std::unique_ptr<ring> ring_;

  // Under the lock.
  intrusive_list<operation> waiting_;        // for room in the ring
  intrusive_list<operation> cancel_wanted_;  // in the kernel; the request waits for room
  intrusive_list<operation> refused_;        // have their result, to be handed over
  bool waker_watched_ = false;
  bool alarm_watched_ = false;
};

}  // namespace skua::inline SKUA_ABI
