// tests/support/gate.hpp: a leaf that waits until the test opens it.
#pragma once

#include "skua/coro/leaf.hpp"

#include <coroutine>

namespace skua_test {

/// The source: opened by hand, from any thread the test likes. Counts what happened to it.
class gate {
public:
  class wait;

  /// Completes the wait that is under way.
  void open(int value = 0);
  /// Completes it as a source does whose operation was cancelled.
  void open_cancelled();

  [[nodiscard]] bool waited_for() const noexcept { return waiting_ != nullptr; }
  [[nodiscard]] int cancels() const noexcept { return cancels_; }

  /// What cancel() answers; `detached` lets go of the wait.
  skua::cancel_answer answer = skua::cancel_answer::detached;
  /// Opened inside start(), before the task is parked.
  bool opens_at_start = false;
  /// Started only in the turn after the one in which it was awaited.
  bool is_postponed = false;

private:
  wait* waiting_ = nullptr;
  int value_ = 0;
  int cancels_ = 0;
};

class gate::wait final : public skua::leaf {
public:
  explicit wait(gate& source) noexcept : source_(source) {}
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (source_.is_postponed) return postpone(skua::to_frame(self));
    leaf::await_suspend(self);
  }
  int await_resume() const noexcept { return source_.value_; }

private:
  void start() noexcept override {
    source_.waiting_ = this;
    if (source_.opens_at_start) source_.open();
  }
  skua::cancel_answer cancel() noexcept override {
    ++source_.cancels_;
    if (source_.answer == skua::cancel_answer::detached) source_.waiting_ = nullptr;
    return source_.answer;
  }

  gate& source_;
};

inline void gate::open(int value) {
  value_ = value;
  wait* one = waiting_;
  waiting_ = nullptr;
  one->complete();
}

inline void gate::open_cancelled() {
  wait* one = waiting_;
  waiting_ = nullptr;
  one->complete_cancelled();
}

}  // namespace skua_test
