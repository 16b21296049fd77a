// tests/support/stress_gate.hpp: a leaf that many tasks wait in, and that any thread opens.
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
class stress_gate {
public:
  class wait;

  /// Completes the longest wait with `value`; false if nobody waits.
  bool open_one(std::uint64_t value = 1);
  /// Completes it as a source does whose operation was cancelled.
  bool open_one_cancelled();
  /// Completes all that wait now; returns how many those were.
  std::size_t open(std::uint64_t value = 1);

  /// Completes all that wait now, and all that ever will.
  void open_for_good(std::uint64_t value = 1);

  /// Blocks the calling thread until somebody waits; false once the gate is open for good.
  bool await_waiter() {
    std::unique_lock hold(mutex_);
    somebody_waits_.wait(hold, [this] { return !waiting_.empty() || is_open_; });
    return !is_open_;
  }

private:
  wait* take();

  std::mutex mutex_;
  std::condition_variable somebody_waits_;
  skua::intrusive_list<wait> waiting_;  // all below under the mutex
  bool is_open_ = false;
  std::uint64_t open_value_ = 0;
};

class stress_gate::wait final : public skua::leaf, public skua::list_link<> {
public:
  /// `lets_go`: cancel() takes it off the list. Otherwise, as with a kernel's operation, somebody
  /// has to open the gate for it all the same.
  explicit wait(stress_gate& at, bool lets_go = true) noexcept : at_(at), lets_go_(lets_go) {}

  /// What the opener gave; 0 if it was cancelled.
  std::uint64_t await_resume() const noexcept { return value_; }

private:
  friend class stress_gate;

  void start() noexcept override {
    {
      const std::lock_guard hold(at_.mutex_);
      if (!at_.is_open_) {
        at_.waiting_.push_back(*this);
        at_.somebody_waits_.notify_one();
        return;
      }
      value_ = at_.open_value_;
    }
    complete();
  }
  skua::cancel_answer cancel() noexcept override {
    if (!lets_go_) return skua::cancel_answer::pending;
    const std::lock_guard hold(at_.mutex_);
    if (!is_linked()) return skua::cancel_answer::pending;
    skua::intrusive_list<wait>::remove(*this);
    return skua::cancel_answer::detached;
  }

  stress_gate& at_;
  const bool lets_go_;
  std::uint64_t value_ = 0;  // plain: written by the opener, read by the task
};

inline stress_gate::wait* stress_gate::take() {
  const std::lock_guard hold(mutex_);
  return waiting_.pop_front();
}

inline bool stress_gate::open_one(std::uint64_t value) {
  wait* const one = take();
  if (one == nullptr) return false;
  one->value_ = value;
  one->complete();
  return true;
}

inline bool stress_gate::open_one_cancelled() {
  wait* const one = take();
  if (one == nullptr) return false;
  one->complete_cancelled();
  return true;
}

inline std::size_t stress_gate::open(std::uint64_t value) {
  skua::intrusive_list<wait> all;
  {
    const std::lock_guard hold(mutex_);
    all.append(waiting_);
  }
  // A wait that is cancelled now takes itself off this list, under the same lock.
  const auto take_one = [&] {
    const std::lock_guard hold(mutex_);
    return all.pop_front();
  };
  std::size_t count = 0;
  while (wait* const one = take_one()) {
    one->value_ = value;
    one->complete();
    ++count;
  }
  return count;
}

inline void stress_gate::open_for_good(std::uint64_t value) {
  {
    const std::lock_guard hold(mutex_);
    is_open_ = true;
    open_value_ = value;
    somebody_waits_.notify_all();
  }
  open(value);
}

}  // namespace skua_test
