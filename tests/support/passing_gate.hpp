// tests/support/passing_gate.hpp: a leaf that tasks of all threads wait in until somebody opens it.
#pragma once

#include "skua/coro/leaf.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace skua_test {

/// Everything from any thread. Outlives those who wait, and whoever is about to let them through.
class passing_gate {
public:
  class wait;

  /// Lets everybody through, now and later.
  void open();
  /// Lets one through: the one who has waited longest, or the next to come.
  void let_one_through();

  /// Blocks the calling thread until so many tasks wait here at once. They have armed their wait,
  /// but may be on their way to sleep still.
  void wait_for_waiters(std::size_t count) {
    std::unique_lock hold(mutex_);
    somebody_came_.wait(hold, [&] { return waiting_.size() >= count; });
  }
  [[nodiscard]] std::size_t waiters() const {
    const std::lock_guard hold(mutex_);
    return waiting_.size();
  }

private:
  bool enter(wait& one) noexcept;
  bool leave(wait& one) noexcept;

  mutable std::mutex mutex_;
  std::condition_variable somebody_came_;
  std::vector<wait*> waiting_;
  std::size_t passes_ = 0;
  bool open_ = false;
};

/// `co_await passing_gate::wait(gate)`. Cancellable at once.
class passing_gate::wait final : public skua::leaf {
public:
  explicit wait(passing_gate& at) noexcept : at_(at) {}
  void await_resume() const noexcept {}

private:
  void start() noexcept override {
    if (!at_.enter(*this)) complete();
  }
  skua::cancel_answer cancel() noexcept override {
    return at_.leave(*this) ? skua::cancel_answer::detached : skua::cancel_answer::pending;
  }

  passing_gate& at_;
};

/// False if the way is free.
inline bool passing_gate::enter(wait& one) noexcept {
  const std::lock_guard hold(mutex_);
  if (open_) return false;
  if (passes_ > 0) {
    --passes_;
    return false;
  }
  waiting_.push_back(&one);
  somebody_came_.notify_all();
  return true;
}

/// False if it is being let through already.
inline bool passing_gate::leave(wait& one) noexcept {
  const std::lock_guard hold(mutex_);
  const auto found = std::ranges::find(waiting_, &one);
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

inline void passing_gate::open() {
  std::vector<wait*> through;
  {
    const std::lock_guard hold(mutex_);
    open_ = true;
    through.swap(waiting_);
  }
  for (wait* const one : through) one->complete();
}

inline void passing_gate::let_one_through() {
  wait* first = nullptr;
  {
    const std::lock_guard hold(mutex_);
    if (waiting_.empty()) {
      ++passes_;
      return;
    }
    first = waiting_.front();
    waiting_.erase(waiting_.begin());
  }
  first->complete();
}

}  // namespace skua_test
