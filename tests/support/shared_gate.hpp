// tests/support/shared_gate.hpp: a leaf that waits until the test opens it, for many threads.
#pragma once

#include "skua/base/intrusive_list.hpp"
#include "skua/coro/leaf.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace skua_test {

/// Closed at first; once open, it lets everybody pass, those who wait and those who come. From any
/// thread; outlives its waits.
class shared_gate {
public:
  class wait;

  void open();

  /// Blocks the calling thread until `count` tasks wait here at once (they have begun to: it may be
  /// a moment until they are off the stack).
  void await_waiters(std::size_t count = 1) {
    std::unique_lock hold(mutex_);
    came_.wait(hold, [&] { return now_ >= count; });
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

private:
  mutable std::mutex mutex_;
  std::condition_variable came_;
  skua::intrusive_list<wait> waiting_;
  std::size_t now_ = 0;
  std::size_t cancels_ = 0;
  bool open_ = false;
};

class shared_gate::wait final : public skua::leaf, public skua::list_link<> {
public:
  explicit wait(shared_gate& at) noexcept : at_(at) {}
  void await_resume() const noexcept {}

private:
  void start() noexcept override {
    {
      const std::lock_guard hold(at_.mutex_);
      if (!at_.open_) {
        at_.waiting_.push_back(*this);
        ++at_.now_;
        at_.came_.notify_all();
        return;
      }
    }
    complete();
  }

  skua::cancel_answer cancel() noexcept override {
    const std::lock_guard hold(at_.mutex_);
    if (!is_linked()) return skua::cancel_answer::pending;  // its completion is on the way
    skua::intrusive_list<wait>::remove(*this);
    --at_.now_;
    ++at_.cancels_;
    return skua::cancel_answer::detached;
  }

  shared_gate& at_;
};

inline void shared_gate::open() {
  for (;;) {
    wait* next = nullptr;
    {
      const std::lock_guard hold(mutex_);
      open_ = true;
      next = waiting_.pop_front();
      if (next == nullptr) return;
      --now_;
    }
    next->complete();  // it may be gone when this returns
  }
}

}  // namespace skua_test
