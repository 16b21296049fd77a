// tests/support/manual_executor.hpp: runs scheduled work when and where the test says.
#pragma once

#include "skua/base/executor.hpp"
#include "skua/base/work_queue.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace skua_test {

/// schedule() from any thread; the others from one thread at a time.
class manual_executor final : public skua::executor {
public:
  void schedule(skua::work& item) noexcept override {
    const std::lock_guard hold(mutex_);
    ready_.push_back(item);
    wake_.notify_one();
  }
  void offload(skua::work& item) noexcept override { schedule(item); }
  void defer(skua::work& item) noexcept override { schedule(item); }

  /// Runs one item if there is one.
  bool run_one() {
    skua::work* item = take();
    if (item == nullptr) return false;
    item->run(*item);
    return true;
  }

  /// Runs until nothing is ready; returns how many items it ran.
  std::size_t run_ready() {
    std::size_t ran = 0;
    while (run_one()) ++ran;
    return ran;
  }

  /// Runs, and sleeps while nothing is ready, until `done()`, which only work run here makes true.
  template <typename Done>
  void run_until(Done done) {
    while (!done()) {
      skua::work* item = nullptr;
      {
        std::unique_lock hold(mutex_);
        wake_.wait(hold, [this] { return !ready_.empty(); });
        item = ready_.pop_front();
      }
      item->run(*item);
    }
  }

private:
  skua::work* take() {
    const std::lock_guard hold(mutex_);
    return ready_.empty() ? nullptr : ready_.pop_front();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  skua::work_queue ready_;
};

}  // namespace skua_test
