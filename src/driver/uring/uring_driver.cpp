// src/driver/uring/uring_driver.cpp: submit, call, reap, hand over.
#include "driver/uring/uring_driver.hpp"

#include "driver/blocking_call.hpp"
#include "driver/uring/prepare.hpp"
#include "skua/base/check.hpp"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <utility>

namespace skua::inline SKUA_ABI {
namespace {

using place = operation::place;
using cancelling = operation::cancelling;

std::uint64_t name_of(const operation& op) noexcept {
  return reinterpret_cast<std::uintptr_t>(&op);
}

// A thread of the kernel's was interrupted. Some operations give the codes that never leave the
// kernel otherwise.
bool was_interrupted(std::int32_t result) noexcept {
  constexpr std::int32_t first_restart = 512;
  constexpr std::int32_t last_restart = 516;
  return result == -ECANCELED || result == -EINTR ||
         (-result >= first_restart && -result <= last_restart);
}

// A ring opens without waiting at first, and then there is no reader yet; and not every socket can
// do without a copy, nor does every user have the memory that is locked for that.
bool needs_second_step(const operation& op) noexcept {
  if (op.stage) return false;
  if (op.code == op_code::open) return op.result == -ENXIO && (op.flags & O_NONBLOCK) == 0;
  return op.code == op_code::send_zc &&
         (op.result == -EOPNOTSUPP || op.result == -ENOMEM || op.result == -ENOBUFS);
}

void make_second_step(io_uring_sqe& entry, const operation& op) noexcept {
  if (op.code == op_code::open) entry.flags |= IOSQE_ASYNC;
  if (op.code == op_code::send_zc) entry.opcode = IORING_OP_SEND;
}

// It has not done what it was to do: it was cancelled, and if not by us, then because the thread
// that had submitted it has ended, and the kernel took its operations along; or a process only
// seemed to have ended; or it has to be done in another way. What was closed is closed.
bool is_unfinished(operation& op) noexcept {
  if (needs_second_step(op)) return op.stage = true;
  if (op.code == op_code::wait_process && op.result == -EAGAIN) return true;
  return was_interrupted(op.result) && op.code != op_code::close;
}

}  // namespace

std::expected<std::unique_ptr<uring_driver>, int> uring_driver::make(const ring_size& size,
                                                                     const clock& time,
                                                                     offload_target& pool,
                                                                     ring_use by) {
  auto wakes = wakers::make();
  if (!wakes) return std::unexpected(wakes.error());
  auto made = ring::make(size, by);
  if (!made) return std::unexpected(made.error());
  return std::unique_ptr<uring_driver>(
      new uring_driver(std::move(*made), std::move(*wakes), time, pool));
}

uring_driver::uring_driver(std::unique_ptr<ring> made, wakers wakes, const clock& time,
                           offload_target& pool) noexcept
    : kernel_driver(std::move(wakes), time, pool), ring_(std::move(made)) {}

uring_driver::~uring_driver() {
  check(waiting_.empty() && cancel_wanted_.empty() && refused_.empty(),
        "a driver dies when its operations have ended");
}

// --- submit

void uring_driver::submit(operation& op) noexcept {
  bool asleep = false;
  {
    std::unique_lock hold(mutex_);
    op.home = this;
    op.cancel = cancelling::no;
    op.timed_out = op.last_is_in = op.stage = false;
    if (op.expiry().deadline != no_deadline) static_cast<void>(timers_.insert(op.expiry()));
    begin(op);
    // A thread that may not enter leaves it to the owner, which does not sleep while some wait.
    if (!waiting_.empty() && ring_->may_enter()) make_room(hold);
    asleep = timers_.sleeps();
  }
  if (asleep) wake();  // not by its owner
}

void uring_driver::begin(operation& op) noexcept {
  if (!ring_->supports(uring_code(op.code))) {
    if (!offload(op)) refuse(op, -EAGAIN);  // no thread can be had
    return;
  }
  if (op.code == op_code::wait_process)
    if (const std::int32_t error = look_at_process(op); error < 0) return refuse(op, error);
  if (waiting_.empty() && put(op)) return;
  op.at = place::queued;
  waiting_.push_back(op);
}

// In the ring, if there is room.
bool uring_driver::put(operation& op) noexcept {
  io_uring_sqe* const entry = ring_->next_entry();
  if (entry == nullptr) return false;
  prepare(*entry, op);
  if (op.stage) make_second_step(*entry, op);
  entry->user_data = name_of(op);
  ring_->publish();
  op.at = place::in_kernel;
  return true;
}

// The kernel takes what is there. What has completed is left for the next look.
void uring_driver::make_room(std::unique_lock<short_lock>& hold) noexcept {
  const std::uint32_t count = ring_->unsubmitted();
  hold.unlock();
  call(count, 0);
  pace_.note_call();
  hold.lock();
  fill_ring();
}

// Requests to cancel come first: they wait for nothing but room.
void uring_driver::fill_ring() noexcept {
  while (operation* const op = cancel_wanted_.front()) {
    io_uring_sqe* const entry = ring_->next_entry();
    if (entry == nullptr) return;
    entry->opcode = IORING_OP_ASYNC_CANCEL;
    entry->fd = -1;
    entry->addr = name_of(*op);
    entry->user_data = name_of(*op) | cancel_bit;
    ring_->publish();
    cancel_wanted_.pop_front();
    op->cancel = cancelling::sent;
  }
  while (operation* const op = waiting_.front()) {
    intrusive_list<operation>::remove(*op);
    if (put(*op)) continue;
    waiting_.push_front(*op);
    return;
  }
}

// One request brings a completion for each edge, until it ends for a reason of the kernel's. False
// if there is no room for it.
bool uring_driver::watch(int fd, name as, bool& watched) noexcept {
  if (watched) return true;
  io_uring_sqe* const entry = ring_->next_entry();
  if (entry == nullptr) return false;
  entry->opcode = IORING_OP_POLL_ADD;
  entry->fd = fd;
  entry->poll32_events = POLLIN;
  entry->len = IORING_POLL_ADD_MULTI;
  entry->user_data = as;
  ring_->publish();
  return watched = true;
}

bool uring_driver::watch_for_wakes() noexcept {
  return watch(wakes_.fd(), waker, waker_watched_) && watch(alarm_.fd(), alarm, alarm_watched_);
}

// --- call

bool uring_driver::glance(std::size_t room) noexcept {
  reaping found(room);
  {
    const std::lock_guard hold(mutex_);
    gather(found);
  }
  return hand_over(found);
}

bool uring_driver::drive(bool sleeps, std::size_t room) noexcept {
  reaping found(room);
  bool woken = false;
  std::unique_lock hold(mutex_);
  for (bool first = true;; first = false) {
    fill_ring();
    // A token that has come since: its completion may have been reaped by another, see below.
    if (first && sleeps) woken = word_.try_end();
    const bool waits = first && sleeps && !woken && may_wait();
    const std::uint32_t count = ring_->unsubmitted();
    const std::int64_t until = waits ? timers_.begin_sleep() : no_deadline;
    if (count > 0 || waits || ring_->wants_call()) {
      hold.unlock();
      call(count, waits ? timers_.left_until(until) : 0);
      hold.lock();
    }
    if (first && sleeps && !woken) {
      timers_.end_sleep();
      woken = word_.end();
    }
    gather(found);
    // What did not fit goes now, as long as the kernel makes room; and timeouts become requests.
    const bool in_line = !waiting_.empty() || !cancel_wanted_.empty();
    if (!(in_line && ring_->has_room()) && !left_for_a_sleeper()) break;
  }
  // We drive in place of the owner, and it is about to sleep, or sleeps: this was meant for it.
  const bool pass_on = found.took_wake && timers_.sleeps();
  hold.unlock();
  if (pass_on) wakes_.signal();
  hand_over(found);
  pace_.note_call();
  return woken;
}

// We drive in place of an owner that has gone to sleep meanwhile: nobody else would submit what we
// have begun again, nor watch for wakes, if it was we who reaped the end of that.
bool uring_driver::left_for_a_sleeper() noexcept {
  if (!timers_.sleeps()) return false;
  static_cast<void>(watch_for_wakes());  // if there is no room, another round makes some
  return ring_->unsubmitted() > 0;
}

// Only if nothing is ready, and whoever wants to can end the wait.
bool uring_driver::may_wait() noexcept {
  return watch_for_wakes() && !ring_->has_completions() && refused_.empty() && waiting_.empty() &&
         cancel_wanted_.empty();
}

void uring_driver::call(std::uint32_t count, std::int64_t wait) noexcept {
  const int answer = ring_->enter(count, wait);
  const bool looks_again =
      answer >= 0 || answer == -EINTR || answer == -ETIME || answer == -EAGAIN || answer == -EBUSY;
  check(looks_again, "the kernel takes what is in a ring");
}

// --- reap

void uring_driver::gather(reaping& into) noexcept {
  while (operation* const op = refused_.pop_front()) {
    let_go(*op);
    into.ended.push_back(*op);
  }
  reap(into);
  gather_timers(into);
}

void uring_driver::reap(reaping& into) noexcept {
  into.room -= ring_->reap(into.room, [&](const io_uring_cqe& one) {
    if (one.user_data <= alarm) {
      bool& watched = one.user_data == waker ? waker_watched_ : alarm_watched_;
      watched = (one.flags & IORING_CQE_F_MORE) != 0;
      into.took_wake = true;
      return;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives back the number it was given.
    auto& op = *reinterpret_cast<operation*>(one.user_data & ~std::uint64_t{cancel_bit});
    if ((one.user_data & cancel_bit) == 0) return completed(op, one, into);
    op.cancel = cancelling::answered;
    if (op.last_is_in) end(op, into);
  });
}

void uring_driver::completed(operation& op, const io_uring_cqe& how, harvest& into) noexcept {
  if ((how.flags & IORING_CQE_F_NOTIF) == 0) op.result = how.res;
  if ((how.flags & IORING_CQE_F_MORE) != 0) return;
  op.last_is_in = true;
  if (op.cancel == cancelling::sent) return;
  end(op, into);
}

// Neither the kernel nor a request on its way knows the operation any more.
void uring_driver::end(operation& op, harvest& into) noexcept {
  op.last_is_in = false;
  const bool asked = op.cancel != cancelling::no;
  if (op.cancel == cancelling::wanted) intrusive_list<operation>::remove(op);
  if (op.code == op_code::wait_process && op.result >= 0) op.result = take_process_end(op);
  if (is_unfinished(op)) {
    if (!asked) return begin(op);
    op.result = -ECANCELED;
  }
  let_go(op);
  into.ended.push_back(op);
}

// --- cancel

bool uring_driver::cancel(operation& op) noexcept {
  bool asleep = false;
  {
    const std::lock_guard hold(mutex_);
    if (take_back(op)) return true;
    if (op.at == place::nowhere) return false;
    want_cancel(op);
    asleep = timers_.sleeps();
  }
  if (asleep) wake();
  return false;
}

void uring_driver::want_cancel(operation& op) noexcept {
  if (op.cancel != cancelling::no) return;
  op.cancel = cancelling::wanted;
  if (op.at == place::in_kernel)
    cancel_wanted_.push_back(op);
  else
    interrupt(op);
}

void uring_driver::expire(operation& op, harvest& into) noexcept {
  if (op.at == place::nowhere) return;
  if (op.cancel == cancelling::no) op.timed_out = true;
  if (!take_back(op)) return want_cancel(op);
  op.result = -ECANCELED;
  into.ended.push_back(op);
}

// True: nobody else has it any more. The kernel gives nothing back, but what waits for it can be.
bool uring_driver::take_back(operation& op) noexcept {
  const bool in_pool = op.at == place::in_pool;
  if (op.at != place::queued && !(in_pool && pool_.withdraw(op))) return false;
  if (!in_pool) intrusive_list<operation>::remove(op);
  let_go(op);
  return true;
}

// --- what the ring does not know

void uring_driver::refuse(operation& op, std::int32_t error) noexcept {
  op.result = error;
  op.at = place::queued;
  refused_.push_back(op);
}

}  // namespace skua::inline SKUA_ABI
