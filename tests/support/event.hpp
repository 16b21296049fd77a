// tests/support/event.hpp: something that happened, for threads that wait for it.
#pragma once

#include <condition_variable>
#include <mutex>

namespace skua_test {

/// Counts how often it happened. Blocks threads, not tasks: for tests that want a worker held up.
class event {
public:
  void set() {
    const std::lock_guard hold(mutex_);
    ++times_;
    changed_.notify_all();  // under the lock: the waiter may destroy this right after it
  }
  void wait(int times = 1) {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] { return times_ >= times; });
  }
  [[nodiscard]] int times() const {
    const std::lock_guard hold(mutex_);
    return times_;
  }
  [[nodiscard]] bool happened() const { return times() > 0; }

private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int times_ = 0;
};

}  // namespace skua_test
