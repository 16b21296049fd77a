// tests/coro/leaf_stress_test.cpp: completers, cancellers and runners on real threads, at random.
#include "skua/base/random.hpp"
#include "skua/coro/as_outcome.hpp"
#include "skua/coro/context.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/task.hpp"
#include "support/budget.hpp"
#include "support/driven.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

namespace {

using skua::cancel_answer;
using skua::task;
using skua_test::driven;
using skua_test::manual_executor;

/// A source with one place to wait, as a channel or a timer has: who takes the waiter out under the
/// lock has it.
class place {
public:
  class wait;
  /// Completes whoever waits; false if nobody does.
  bool fire(std::uint64_t value);
  /// Completes whoever waits as a kernel does that was asked to cancel.
  bool fire_cancelled();

private:
  wait* take() {
    const std::lock_guard hold(mutex_);
    return std::exchange(waiting_, nullptr);
  }

  std::mutex mutex_;
  wait* waiting_ = nullptr;
};

class place::wait final : public skua::leaf {
public:
  wait(place& where, bool detaches) noexcept : where_(where), detaches_(detaches) {}
  std::uint64_t await_resume() const noexcept { return value_; }

private:
  friend class place;
  void start() noexcept override {
    const std::lock_guard hold(where_.mutex_);
    where_.waiting_ = this;
  }
  cancel_answer cancel() noexcept override {
    if (!detaches_) return cancel_answer::pending;  // a completer is sure to come
    const std::lock_guard hold(where_.mutex_);
    if (where_.waiting_ != this) return cancel_answer::pending;
    where_.waiting_ = nullptr;
    return cancel_answer::detached;
  }

  place& where_;
  bool detaches_;
  std::uint64_t value_ = 0;  // plain: written by the completer, read by the task
};

bool place::fire(std::uint64_t value) {
  wait* one = take();
  if (one == nullptr) return false;
  one->value_ = value;
  one->complete();
  return true;
}

bool place::fire_cancelled() {
  wait* one = take();
  if (one == nullptr) return false;
  one->complete_cancelled();
  return true;
}

struct tally {
  std::uint64_t values = 0, stops = 0, waits = 0;
};

/// Waits many times; a stop may come at any of them.
task<std::uint64_t> waits_often(place& where, int times, bool detaches, tally& sum) {
  std::uint64_t last = 0;
  for (int i = 0; i < times; ++i) {
    ++sum.waits;
    const std::uint64_t value = co_await place::wait(where, detaches);
    EXPECT_TRUE(value == 0 || value > last) << "values arrive in order, seen whole";
    if (value != 0) last = value;
    ++sum.values;
  }
  co_return last;
}

/// One task, one completing thread that never stops firing, one stop at a random moment.
void one_round(skua::random_generator& random, tally& sum) {
  manual_executor here;
  place where;
  const bool detaches = random.below(2) == 0;
  const bool catches = random.below(4) == 0;
  const auto delay = std::chrono::nanoseconds(random.below(20'000));
  const bool with_cancelled = random.below(2) == 0;
  std::atomic<bool> over = false;

  auto body = [](place& at, bool detach, bool catching, tally& to) -> task<std::uint64_t> {
    if (!catching) co_return co_await waits_often(at, 50, detach, to);
    auto how = co_await skua::as_outcome(waits_often(at, 50, detach, to));
    co_return how ? *how : 0;
  };
  driven<std::uint64_t> whole(here, body(where, detaches, catches, sum));

  std::thread completer([&] {
    std::uint64_t value = 0;
    while (!over.load()) {
      if (with_cancelled && value % 7 == 3) where.fire_cancelled();
      if (!where.fire(++value)) std::this_thread::yield();
    }
  });
  std::thread canceller([&] {
    const auto until = std::chrono::steady_clock::now() + delay;
    while (std::chrono::steady_clock::now() < until) {
    }
    whole.request_stop();
  });
  here.run_until([&] { return whole.ended(); });
  over = true;
  completer.join();
  canceller.join();
  EXPECT_FALSE(whole.result().has_exception());
  if (whole.result().stopped()) ++sum.stops;
}

TEST(leaf_stress, every_wait_ends_once_whoever_comes_first) {
  const std::uint64_t seed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  skua::random_generator random(seed);
  tally sum;
  std::uint64_t rounds = 0;
  for (const skua_test::budget time(2); time.left(); ++rounds) one_round(random, sum);
  std::printf("%llu rounds, %llu waits, %llu values, %llu stops\n",
              static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(sum.waits),
              static_cast<unsigned long long>(sum.values),
              static_cast<unsigned long long>(sum.stops));
  EXPECT_GT(sum.values, 0U);
  EXPECT_GT(sum.stops, 0U);
}

}  // namespace
