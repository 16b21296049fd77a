// bench/runtime/spawn_blocking.cpp: the cost of a call on the blocking pool, there and back.
//
// A round is one co_await spawn_blocking() of a call that does nothing, by one task that has the
// runtime to itself: two threads that wake each other. Baseline: a thread behind a std::mutex and
// two condition variables. Time: run without arguments.
#include "skua/runtime/spawn_blocking.hpp"
#include "runtime/flavours.hpp"
#include "support/side_by_side.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace {

int call(int n) {
  return n;
}

skua::task<unsigned long> calls(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i)
    sum += static_cast<unsigned long>(co_await skua::spawn_blocking(call, i));
  co_return sum;
}

/// One thread that makes one call at a time.
class caller {
public:
  int make(int n) {
    std::unique_lock hold(mutex_);
    argument_ = n;
    asked_ = true;
    came_.notify_one();
    done_.wait(hold, [this] { return !asked_; });
    return result_;
  }
  void end() {
    const std::lock_guard hold(mutex_);
    over_ = true;
    came_.notify_one();
  }

private:
  void run() {
    std::unique_lock hold(mutex_);
    for (;;) {
      came_.wait(hold, [this] { return asked_ || over_; });
      if (over_) return;
      hold.unlock();
      const int result = call(argument_);
      hold.lock();
      result_ = result;
      asked_ = false;
      done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable came_, done_;
  bool asked_ = false, over_ = false;
  int argument_ = 0, result_ = 0;
  std::jthread thread_{[this] { run(); }};
};

unsigned long hand_made_calls(int rounds) {
  caller one;
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += static_cast<unsigned long>(one.make(i));
  one.end();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<calls>(all, "call", 2'000, {"condition variables", hand_made_calls});
  return side_by_side(argc, argv, "spawn_blocking", all);
}
