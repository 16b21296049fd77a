// tests/support/shared_gate.hpp: a leaf that many tasks wait in, and that any thread opens.
#pragma once

#include "skua/base/intrusive_list.hpp"
#include "skua/coro/leaf.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace skua_test {

/// A source with a lock of its own: who takes a waiter off the list under it has that waiter.
/// Outlives its waiters.
class shared_gate {
public:
  class wait;

  /// Completes the longest wait with `value`; false if nobody waits.
  bool open_one(std::uint64_t value = 1);
  /// Completes it as a source does whose operation was cancelled.
  bool open_one_cancelled();
  /// Completes the longest wait, or else the next to come.
  void let_one_through();
  /// Completes all that wait now; returns how many those were.
  std::size_t open_now(std::uint64_t value = 1);
  /// Completes all that wait now, and all that ever will.
  void open(std::uint64_t value = 1);

  /// Blocks the calling thread until `count` tasks wait here at once (they have begun to: it may be
  /// a moment until they are off the stack).
  void await_waiters(std::size_t count = 1) {
    std::unique_lock hold(mutex_);
    somebody_waits_.wait(hold, [&] { return now_ >= count; });
  }
  [[nodiscard]] std::size_t waiters() const {
    const std::lock_guard hold(mutex_);
    return now_;
  }
  /// How many waits were ended by a stop.
  [[nodiscard]] std::size_t cancels() const {
    const std::lock_guard hold(mutex_);
    return cancels_;
  }

  /// Blocks the calling thread until somebody waits; false once the gate is open for good.
  bool await_waiter() {
    std::unique_lock hold(mutex_);
    somebody_waits_.wait(hold, [this] { return !waiting_.empty() || is_open_; });
    return !is_open_;
  }

private:
  wait* take();

  mutable std::mutex mutex_;  // over all that follows
  std::condition_variable somebody_waits_;
  skua::intrusive_list<wait> waiting_;
  std::size_t now_ = 0;     // in `waiting_`
  std::size_t passes_ = 0;  // for those to come
  std::size_t cancels_ = 0;
  bool is_open_ = false;
  std::uint64_t open_value_ = 0;
};

class shared_gate::wait final : public skua::leaf, public skua::list_link<> {
public:
  /// `lets_go`: cancel() takes it off the list. Otherwise, as with a kernel's operation, somebody
  /// has to open the gate for it all the same.
  explicit wait(shared_gate& at, bool lets_go = true) noexcept : at_(at), lets_go_(lets_go) {}

  /// What the opener gave; 0 if it was cancelled.
  std::uint64_t await_resume() const noexcept { return value_; }

private:
  friend class shared_gate;

  void start() noexcept override {
    {
      const std::lock_guard hold(at_.mutex_);
      if (!at_.is_open_ && at_.passes_ == 0) {
        at_.waiting_.push_back(*this);
        ++at_.now_;
        at_.somebody_waits_.notify_all();
        return;
      }
      if (!at_.is_open_) --at_.passes_;
      value_ = at_.open_value_;
    }
    complete();
  }
  skua::cancel_answer cancel() noexcept override {
    if (!lets_go_) return skua::cancel_answer::pending;
    const std::lock_guard hold(at_.mutex_);
    if (!is_linked()) return skua::cancel_answer::pending;  // its completion is on the way
    skua::intrusive_list<wait>::remove(*this);
    --at_.now_;
    ++at_.cancels_;
    return skua::cancel_answer::detached;
  }

  shared_gate& at_;
  const bool lets_go_;
  std::uint64_t value_ = 0;  // plain: written by the opener, read by the task
};

inline shared_gate::wait* shared_gate::take() {
  const std::lock_guard hold(mutex_);
  wait* const first = waiting_.pop_front();
  if (first != nullptr) --now_;
  return first;
}

inline bool shared_gate::open_one(std::uint64_t value) {
  wait* const one = take();
  if (one == nullptr) return false;
  one->value_ = value;
  one->complete();
  return true;
}

inline bool shared_gate::open_one_cancelled() {
  wait* const one = take();
  if (one == nullptr) return false;
  one->complete_cancelled();
  return true;
}

inline void shared_gate::let_one_through() {
  wait* first = nullptr;
  {
    const std::lock_guard hold(mutex_);
    first = waiting_.pop_front();
    if (first == nullptr) {
      ++passes_;
      return;
    }
    --now_;
  }
  first->complete();
}

// By number, not until nobody is left: those who come back at once are not of those who wait now.
inline std::size_t shared_gate::open_now(std::uint64_t value) {
  std::size_t count = 0;
  for (std::size_t left = waiters(); left > 0 && open_one(value); --left) ++count;
  return count;
}

inline void shared_gate::open(std::uint64_t value) {
  {
    const std::lock_guard hold(mutex_);
    is_open_ = true;
    open_value_ = value;
    somebody_waits_.notify_all();
  }
  while (open_one(value)) {
  }
}

}  // namespace skua_test
