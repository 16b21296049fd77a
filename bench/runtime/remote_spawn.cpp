// bench/runtime/remote_spawn.cpp: the cost of a task that comes from a thread outside the runtime.
//
// A round is one trivial task, spawned through a runtime_handle by one foreign thread, or two at
// once; the run ends when the last task has run. Baseline: coroutines in a std::deque under a
// std::mutex, with a condition variable for the one thread that runs them.
// Time: run without arguments.
#include "coro/hand_made.hpp"
#include "runtime/event.hpp"
#include "runtime/flavours.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/side_by_side.hpp"

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace {

/// Calls `body(share)` on `threads` threads of their own.
template <typename Body>
std::vector<std::jthread> on_threads(int threads, int rounds, Body body) {
  std::vector<std::jthread> all;
  all.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i)
    all.emplace_back([body, share = (rounds + i) / threads] { body(share); });
  return all;
}

skua::task<> arrive(std::atomic<int>& left, event& last) {
  if (--left == 0) last.set();
  co_return;
}

template <int Threads>
skua::task<unsigned long> spawned_by(int rounds) {
  std::atomic<int> left = rounds;
  event last;
  const auto here = skua::runtime_handle::current();
  const auto threads = on_threads(Threads, rounds, [&](int share) {
    for (int i = 0; i < share; ++i) here.spawn(arrive(left, last)).detach();
  });
  co_await event::wait(last);
  co_return static_cast<unsigned long>(left.load());
}

class shared_scheduler {
public:
  void push(std::coroutine_handle<> ready) {
    const std::lock_guard hold(mutex_);
    ready_.push_back(ready);
    came_.notify_one();
  }
  void run_until(const int& left) {
    while (left > 0) {
      std::unique_lock hold(mutex_);
      came_.wait(hold, [this] { return !ready_.empty(); });
      const std::coroutine_handle<> next = ready_.front();
      ready_.pop_front();
      hold.unlock();
      next.resume();
    }
  }

private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::coroutine_handle<>> ready_;
};

struct hand_made_task {
  struct promise_type {
    template <typename... Args>
    explicit promise_type(shared_scheduler& to, Args&&...) noexcept : here(to) {}
    hand_made_task get_return_object() const noexcept { return {}; }
    struct queue_it {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) const {
        self.promise().here.push(self);
      }
      void await_resume() const noexcept {}
    };
    queue_it initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
    shared_scheduler& here;
  };
};

hand_made_task hand_made_arrive(shared_scheduler&, int& left) {
  --left;
  co_return;
}

template <int Threads>
unsigned long hand_made_spawned_by(int rounds) {
  shared_scheduler here;
  int left = rounds;
  const auto threads = on_threads(Threads, rounds, [&](int share) {
    for (int i = 0; i < share; ++i) hand_made_arrive(here, left);
  });
  here.run_until(left);
  return static_cast<unsigned long>(left);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<spawned_by<1>>(all, "one_thread", 30'000,
                               {"mutex and deque", hand_made_spawned_by<1>});
  flavours::add<spawned_by<2>>(all, "two_threads", 30'000,
                               {"mutex and deque", hand_made_spawned_by<2>});
  return side_by_side(argc, argv, "spawn from outside", all);
}
