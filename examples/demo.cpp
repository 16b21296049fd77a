// examples/demo.cpp: what skua does today: tasks that take turns, results, streams, cancellation.
#include <skua/base/error.hpp>
#include <skua/base/executor.hpp>
#include <skua/base/work_queue.hpp>
#include <skua/coro/async_generator.hpp>
#include <skua/coro/context.hpp>
#include <skua/coro/or_return.hpp>
#include <skua/coro/task.hpp>

#include <cstdio>

namespace {

/// One thread, first come, first served. The runtime's scheduler will take its place.
class single_thread final : public skua::executor {
public:
  void schedule(skua::work& item) noexcept override { ready_.push_back(item); }
  void offload(skua::work& item) noexcept override { schedule(item); }
  void run() {
    for (; !ready_.empty(); ++turns_) {
      skua::work* item = ready_.pop_front();
      item->run(*item);
    }
  }
  [[nodiscard]] int turns() const { return turns_; }

private:
  skua::work_queue ready_;
  int turns_ = 0;
};

/// A task of its own: spawned, and stopped from outside.
class spawned final : public skua::context {
public:
  spawned(single_thread& home, skua::task<> body) : context(run_it, home) {
    hold(skua::to_frame(body.release()));
    schedule();
  }

private:
  static void run_it(skua::work& item) noexcept {
    auto& self = static_cast<spawned&>(item);
    if (self.drive() == skua::progress::returned) self.release_root().destroy();
  }
};

/// Lets the others run: goes to the back of the queue.
class yield final : public skua::leaf {
public:
  explicit yield(single_thread& on) : home_(on) {}
  void await_resume() const noexcept {}

private:
  struct ticket : skua::work {
    explicit ticket(yield& of) : work(arrive), whose(of) {}
    static void arrive(skua::work& item) noexcept { static_cast<ticket&>(item).whose.complete(); }
    yield& whose;
  };
  void start() noexcept override { home_.schedule(mine_); }
  skua::cancel_answer cancel() noexcept override { return skua::cancel_answer::pending; }

  single_thread& home_;
  ticket mine_{*this};
};

struct log {
  ~log() { std::printf("  %s: its destructors ran\n", who); }
  explicit log(const char* name) : who(name) {}
  log(const log&) = delete;
  log& operator=(const log&) = delete;
  const char* who;
};

skua::task<skua::result<int>> half(int n) {
  if (n % 2 != 0) co_return skua::fail(std::errc::invalid_argument);
  co_return n / 2;
}

skua::task<skua::result<int>> quarter(int n) {
  const int h = co_await skua::or_return(co_await half(n));  // the value, or out with the error
  co_return co_await skua::or_return(co_await half(h));
}

skua::async_generator<int> countdown(single_thread& on, int from) {
  for (int n = from; n > 0; --n) {
    co_await yield(on);
    co_yield n;
  }
}

skua::task<> divider() {
  for (const int n : {8, 6}) {
    const auto q = co_await quarter(n);
    if (q)
      std::printf("  divider: a quarter of %d is %d\n", n, *q);
    else
      std::printf("  divider: no quarter of %d: %s\n", n, q.error().message().c_str());
  }
}

skua::task<> counter(single_thread& on, const char* name) {
  auto numbers = countdown(on, 3);
  while (auto n = co_await numbers.next()) std::printf("  %s: %d\n", name, *n);
}

skua::task<> sleeper(single_thread& on) {
  const log says("sleeper");
  for (;;) co_await yield(on);  // for ever, but for the stop
}

}  // namespace

int main() {
  single_thread here;
  std::puts("spawning four tasks and one that never ends");
  spawned one(here, divider());
  spawned two(here, counter(here, "red"));
  spawned three(here, counter(here, "blue"));
  spawned endless(here, sleeper(here));
  auto stopper = [](single_thread& on, spawned& victim) -> skua::task<> {
    for (int turn = 0; turn < 10; ++turn) co_await yield(on);
    std::puts("  stopper: asks the sleeper to stop");
    victim.request_stop();
  };
  spawned four(here, stopper(here, endless));
  here.run();
  std::printf("all ended after %d turns; nothing is left\n", here.turns());
}
