// src/coro/sync_wait.cpp: a context whose executor is the thread that waits.
#include "skua/coro/sync_wait.hpp"

#include "skua/base/executor.hpp"
#include "skua/base/work_queue.hpp"
#include "skua/coro/context.hpp"

#include <condition_variable>
#include <mutex>

namespace skua::inline SKUA_ABI {
namespace {

/// Runs what others schedule, on the thread that calls run_one().
class waiting_thread final : public executor {
public:
  void schedule(work& item) noexcept override {
    const std::lock_guard hold(mutex_);
    ready_.push_back(item);
    wake_.notify_one();  // under the lock: the waiter may return and destroy this right after it
  }

  // The thread is blocked for this task anyway, so it may as well block here.
  void offload(work& item) noexcept override { schedule(item); }
  void defer(work& item) noexcept override { schedule(item); }

  void run_one() {
    work* item = nullptr;
    {
      std::unique_lock hold(mutex_);
      wake_.wait(hold, [this] { return !ready_.empty(); });
      item = ready_.pop_front();
    }
    item->run(*item);
  }

private:
  std::mutex mutex_;
  std::condition_variable wake_;
  work_queue ready_;
};

class waited_for final : public context {
public:
  explicit waited_for(executor& home) noexcept : context(run_until_parked, home) {}

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// The root with its result; null if it was stopped.
  [[nodiscard]] frame_handle take_root() noexcept {
    return stopped_ ? frame_handle() : release_root();
  }

private:
  static void run_until_parked(work& item) noexcept {
    auto& self = static_cast<waited_for&>(item);
    const progress how = self.drive();
    if (how == progress::parked) return;
    self.ended_ = true;
    self.stopped_ = how == progress::stopped;
  }

  // Only the waiting thread runs the context, and only it looks.
  bool ended_ = false;
  bool stopped_ = false;
};

}  // namespace

frame_handle drive_until_ended(frame_handle root) noexcept {
  waiting_thread here;
  waited_for whole(here);
  whole.hold(root);
  whole.schedule();
  while (!whole.ended()) here.run_one();
  return whole.take_root();
}

}  // namespace skua::inline SKUA_ABI
