// src/driver/epoll/epoll_driver.cpp: try, give, drive, hand over.
#include "driver/epoll/epoll_driver.hpp"

#include "driver/blocking_call.hpp"
#include "skua/base/check.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace skua::inline SKUA_ABI {
namespace {

using place = operation::place;
using cancelling = operation::cancelling;

// No descriptor has these numbers.
constexpr std::uint64_t waker = ~std::uint64_t{0};
constexpr std::uint64_t alarm = waker - 1;

epoll_driver& home_of(const operation& op) noexcept {
  return static_cast<epoll_driver&>(*op.home);
}

// What was moved before counts more than that it was to be more.
std::int32_t cut_short(const operation& op) noexcept {
  return op.result > 0 ? op.result : -ECANCELED;
}

}  // namespace

std::expected<std::unique_ptr<epoll_driver>, int> epoll_driver::make(fd_table& fds,
                                                                     const clock& time,
                                                                     offload_target& pool) {
  auto wakes = wakers::make();
  if (!wakes) return std::unexpected(wakes.error());
  auto made = poller::make();
  if (!made) return std::unexpected(made.error());
  if (const int error = made->add(wakes->wakes.fd(), EPOLLIN | EPOLLET, waker); error != 0)
    return std::unexpected(error);
  if (const int error = made->add(wakes->rings.fd(), EPOLLIN | EPOLLET, alarm); error != 0)
    return std::unexpected(error);
  return std::unique_ptr<epoll_driver>(
      new epoll_driver(fds, std::move(*made), std::move(*wakes), time, pool));
}

epoll_driver::epoll_driver(fd_table& fds, poller made, wakers wakes, const clock& time,
                           offload_target& pool) noexcept
    : kernel_driver(std::move(wakes), time, pool), fds_(fds), poller_(std::move(made)) {}

epoll_driver::~epoll_driver() {
  // order: none; nobody else uses it now.
  check(results_.empty() && waiting_.load(std::memory_order_relaxed) == 0,
        "a driver dies when its operations have ended");
}

// --- submit

void epoll_driver::submit(operation& op) noexcept {
  op.home = this;
  op.at = place::queued;
  op.cancel = cancelling::no;
  op.timed_out = op.last_is_in = op.stage = false;
  op.result = 0;
  if (op.code == op_code::close) return close(op);
  const tried first = try_once(op);
  if (first.how == tried::outcome::ended)
    end_at_once(op, first.result);
  else
    go_on(op, first);
}

// Nobody else knows of it yet.
void epoll_driver::end_at_once(operation& op, std::int32_t result) noexcept {
  op.result = result;
  op.at = place::nowhere;
  op.done(op);
}

// Until it has its result or is where its end will be seen.
void epoll_driver::go_on(operation& op, tried now) noexcept {
  for (;; now = try_once(op)) {
    if (now.how == tried::outcome::ended) return give(op, now.result);
    if (now.how == tried::outcome::blocks) return block(op);
    if (wait_for(op, now.for_other_fd)) return;
  }
}

void epoll_driver::give(operation& op, std::int32_t result) noexcept {
  bool asleep = false;
  {
    const std::lock_guard hold(mutex_);
    put(op, result);
    asleep = timers_.sleeps();
  }
  if (asleep) wake();  // not by its owner
}

void epoll_driver::put(operation& op, std::int32_t result) noexcept {
  op.result = result;
  op.at = place::queued;
  results_.push_back(op);
  // order: none; see glance().
  some_results_.store(true, std::memory_order_relaxed);
}

// From here on it can end by its timeout. False if it was cancelled already, and has its result.
bool epoll_driver::admit(operation& op) noexcept {
  if (op.cancel != cancelling::no) {
    put(op, cut_short(op));
    return false;
  }
  if (op.expiry().deadline == no_deadline || op.expiry().linked()) return true;
  if (timers_.insert(op.expiry())) wake();
  return true;
}

void epoll_driver::block(operation& op) noexcept {
  bool asleep = false;
  {
    const std::lock_guard hold(mutex_);
    if (admit(op) && !offload(op)) put(op, -EAGAIN);  // no thread can be had
    asleep = timers_.sleeps() && !results_.empty();
  }
  if (asleep) wake();
}

// Where it has to wait for nothing but the system, and the system for nothing, it is done here. So
// it is if no thread can be had: the descriptor would stay open.
void epoll_driver::close(operation& op) noexcept {
  forget(op.fd);
  if (closes_slowly(op.fd)) {
    const std::lock_guard hold(mutex_);
    if (offload(op)) return;
  }
  end_at_once(op, call_and_block(op));
}

// --- drive

bool epoll_driver::glance(std::size_t /*room*/) noexcept {
  // order: none; the owner sees its own operations, and is woken for those of others.
  if (!timers_.may_have() && !some_results_.load(std::memory_order_relaxed)) return false;
  harvest found;
  {
    const std::lock_guard hold(mutex_);
    gather(found);
  }
  return hand_over(found);
}

bool epoll_driver::drive(bool sleeps, std::size_t room) noexcept {
  std::array<epoll_event, 256> space;
  const auto most = std::span(space).first(std::min(space.size(), room));
  std::span<epoll_event> came;
  serving found;
  std::int64_t until = no_deadline;
  bool woken = false;
  bool must_wait = false;
  if (sleeps) {
    const std::lock_guard hold(mutex_);
    // A token that has come since: its edge may have been shown to another, see pass_on_wake().
    woken = word_.try_end();
    must_wait = results_.empty() && !woken;
    if (must_wait) until = timers_.begin_sleep();
  }
  if (must_wait) {
    came = poller_.wait(most, timers_.left_until(until));
    const std::lock_guard hold(mutex_);
    timers_.end_sleep();
    // order: none; as for the timers. What nobody waits for is looked at when somebody does.
  } else if (waiting_.load(std::memory_order_relaxed) > 0) {
    came = poller_.look(most);
  }
  if (sleeps && !woken) woken = word_.end();
  for (const epoll_event& one : came) {
    if (one.data.u64 < alarm)
      dispatch(one, found);
    else if (!must_wait)
      pass_on_wake();
  }
  finish(found);
  {
    const std::lock_guard hold(mutex_);
    gather(found);
  }
  hand_over(found);
  pace_.note_call();
  return woken;
}

// Seen by a thread that looks in place of the owner: an edge is shown to one thread only. An owner
// that does not sleep yet finds the token.
void epoll_driver::pass_on_wake() noexcept {
  const std::lock_guard hold(mutex_);
  if (timers_.sleeps()) wakes_.signal();
}

// Of what dispatch() found: it knows one lock, and the rest needs that of each one's home.
void epoll_driver::finish(serving& what) noexcept {
  while (operation* const op = what.served.pop_front()) {
    if (op->expiry().deadline != no_deadline) home_of(*op).remove(op->expiry());
    what.ended.push_back(*op);
  }
  while (operation* const op = what.again.pop_front())
    home_of(*op).go_on(*op, home_of(*op).try_once(*op));
}

void epoll_driver::gather(harvest& into) noexcept {
  while (operation* const op = results_.pop_front()) {
    let_go(*op);
    into.ended.push_back(*op);
  }
  // order: none; see glance().
  some_results_.store(false, std::memory_order_relaxed);
  gather_timers(into);
}

// --- cancel

bool epoll_driver::cancel(operation& op) noexcept {
  bool asleep = false;
  {
    const std::lock_guard hold(mutex_);
    if (!take_back(op)) {
      static_cast<void>(want_cancel(op));
      return false;
    }
    if (op.expiry().linked()) timers_.remove(op.expiry());
    if (op.result <= 0) return true;
    put(op, op.result);
    asleep = timers_.sleeps();
  }
  if (asleep) wake();
  return false;
}

// True: nobody else has it any more.
bool epoll_driver::take_back(operation& op) noexcept {
  const bool for_other = op.code == op_code::splice && op.stage;
  if (fd_entry* const entry = fds_.find(for_other ? op.other_fd : op.fd)) {
    const std::lock_guard hold(entry->mutex);
    if (op.at == place::in_kernel) {
      take_out(*entry, op);
      op.at = place::nowhere;
      return true;
    }
  }
  if (op.at != place::in_pool || !pool_.withdraw(op)) return false;
  op.at = place::nowhere;
  return true;
}

// Of one that could not be taken back. False if it has ended, or was asked before.
bool epoll_driver::want_cancel(operation& op) noexcept {
  if (op.at == place::nowhere || op.cancel != cancelling::no) return false;
  op.cancel = cancelling::wanted;
  if (op.at == place::in_pool) interrupt(op);
  return true;
}

void epoll_driver::expire(operation& op, harvest& into) noexcept {
  if (!take_back(op)) {
    if (want_cancel(op)) op.timed_out = true;
    return;
  }
  op.timed_out = true;
  op.result = cut_short(op);
  into.ended.push_back(op);
}

}  // namespace skua::inline SKUA_ABI
