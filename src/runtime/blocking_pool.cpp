// src/runtime/blocking_pool.cpp: a queue under a mutex, and threads that come and go.
#include "runtime/blocking_pool.hpp"

#include "runtime/core.hpp"
#include "runtime/current.hpp"
#include "runtime/signals.hpp"
#include "runtime/thread_name.hpp"
#include "skua/base/check.hpp"
#include "skua/base/clock.hpp"

#include <sched.h>

#include <chrono>
#include <utility>

namespace skua::inline SKUA_ABI {

bool blocking_pool::submit(pool_job& job) noexcept {
  std::unique_lock hold(mutex_);
  if (!make_room(hold)) return false;
  jobs_.push_back(job);
  call_came(hold);
  return true;
}

bool blocking_pool::submit(work& item) noexcept {
  std::unique_lock hold(mutex_);
  if (!make_room(hold)) return false;
  items_.push_back(item);
  call_came(hold);
  return true;
}

// Without the mutex: a thread that was woken while it is held would only fall asleep at it. The
// caller is a thread of the runtime, which is there still. One that lingers comes by itself.
void blocking_pool::call_came(std::unique_lock<std::mutex>& hold) noexcept {
  ++waiting_;
  const bool is_awaited = lingers_ && waiting_ == 1;
  hold.unlock();
  if (is_awaited)
    // order: none; who sees it takes the mutex.
    came_.fetch_add(1, std::memory_order_relaxed);
  else
    work_came_.notify_one();
}

bool blocking_pool::withdraw(pool_job& job) noexcept {
  const std::lock_guard hold(mutex_);
  if (!job.is_linked()) return false;
  intrusive_list<pool_job>::remove(job);
  --waiting_;
  return true;
}

// A thread for one more: one that is idle and not spoken for, or a new one, or any that will come
// by.
bool blocking_pool::make_room(std::unique_lock<std::mutex>&) noexcept {
  check(!closed_, "no call is made when all tasks have ended");
  if (idle_ > waiting_) return true;
  if (threads_ == threads_max_) return true;
  of_.add_reference();
  const std::size_t before = running_.size();
  try {
    const auto self = running_.emplace(running_.end());
    *self = std::thread([this, self] { run(self); });  // it waits for the mutex first
    if (left_alone_) self->detach();
  } catch (...) {  // no thread, or no memory for one
    if (running_.size() > before) running_.pop_back();
    of_.release();
    return threads_ > 0;
  }
  ++threads_;
  ++idle_;  // it has no call yet
  return true;
}

void blocking_pool::run(thread_list::iterator self) noexcept {
  block_sigpipe_in_this_thread();
  current() = current_state{&of_};
  std::unique_lock hold(mutex_);
  name_this_thread(of_.blocking_thread_name(), named_++);
  for (;;) {
    const bool in_time = wait_for_call(hold);
    if (!nothing_waits())
      run_one(hold);
    else if (closed_ || !in_time)
      break;
  }
  --idle_;
  --threads_;
  std::thread before;
  if (!left_alone_) before = std::exchange(last_ended_, std::move(*self));
  running_.erase(self);
  thread_ended_.notify_all();
  hold.unlock();
  if (before.joinable()) before.join();
  current() = {};
  of_.release();  // the last use of the pool, and perhaps of the runtime
}

// False if it took too long. Where the last call came at once, the next is likely to: see
// config::linger.
bool blocking_pool::wait_for_call(std::unique_lock<std::mutex>& hold) noexcept {
  if (waits_shortly_ && !lingers_ && nothing_waits() && !closed_) linger(hold);
  if (closed_ || !nothing_waits()) return true;
  const std::int64_t began = monotonic_clock().now();
  const bool in_time = work_came_.wait_for(hold, std::chrono::nanoseconds(keep_alive_),
                                           [this] { return closed_ || !nothing_waits(); });
  waits_shortly_ = in_time && monotonic_clock().now() - began < of_.settings().linger;
  return in_time;
}

// Without the mutex meanwhile. What comes just as it ends is seen by the caller, under the mutex.
void blocking_pool::linger(std::unique_lock<std::mutex>& hold) noexcept {
  lingers_ = true;
  // order: none; a hint, see call_came().
  const std::uint32_t before = came_.load(std::memory_order_relaxed);
  hold.unlock();
  const std::int64_t until = monotonic_clock().now() + of_.settings().linger;
  // order: none; likewise.
  while (came_.load(std::memory_order_relaxed) == before && monotonic_clock().now() < until)
    ::sched_yield();
  hold.lock();
  lingers_ = false;
  waits_shortly_ = !nothing_waits();
}

void blocking_pool::run_one(std::unique_lock<std::mutex>& hold) noexcept {
  item_is_next_ = !items_.empty() && (item_is_next_ || jobs_.empty());
  work* const item = item_is_next_ ? items_.pop_front() : nullptr;
  pool_job* const job = item == nullptr ? jobs_.pop_front() : nullptr;
  item_is_next_ = item == nullptr;  // they take turns, so that neither kind starves
  --waiting_;
  --idle_;
  hold.unlock();
  if (job != nullptr)
    job->run(*job);
  else
    item->run(*item);
  current().task = nullptr;
  hold.lock();
  ++idle_;
  of_.call_has_ended();
}

void blocking_pool::close() noexcept {
  const std::lock_guard hold(mutex_);
  closed_ = true;
  work_came_.notify_all();
}

void blocking_pool::join() noexcept {
  close();
  std::unique_lock hold(mutex_);
  thread_ended_.wait(hold, [this] { return threads_ == 0; });
  std::thread last = std::move(last_ended_);
  hold.unlock();
  if (last.joinable()) last.join();
}

void blocking_pool::leave_alone() noexcept {
  const std::lock_guard hold(mutex_);
  left_alone_ = true;
  for (std::thread& one : running_) one.detach();
  if (last_ended_.joinable()) last_ended_.detach();
}

bool blocking_pool::is_busy() const noexcept {
  const depth now = look();
  return now.waiting > 0 || now.idle < now.threads;
}

blocking_pool::depth blocking_pool::look() const noexcept {
  const std::lock_guard hold(mutex_);
  return {threads_, idle_, waiting_};
}

}  // namespace skua::inline SKUA_ABI
