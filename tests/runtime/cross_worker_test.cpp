// tests/runtime/cross_worker_test.cpp: everything that crosses from one worker to another, at once.
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::task;
using skua_test::entry;
using skua_test::ledger;
using skua_test::shared_gate;
using numbers = std::mt19937_64;

/// A runtime, and all that goes on in it. Everything is drawn from the seed; what meets when is
/// not.
class storm {
public:
  storm(std::uint64_t seed, skua_test::log_recorder& log) : seed_(seed), draw_(seed) {
    skua::config settings;
    settings.flavour = skua::flavour::thread_per_core;
    settings.workers = 1 + draw_() % 4;
    settings.log = log.logger();
    switch (draw_() % 4) {
      case 0:
        settings.dispatcher = skua::dispatch::round_robin();
        break;
      case 1:
        settings.dispatcher = skua::dispatch::least_loaded();
        break;
      case 2:
        settings.dispatcher = skua::dispatch::hash();
        break;
      default:
        break;
    }
    workers_ = settings.workers;
    rt_.emplace(skua_test::started(settings));
  }

  void run() {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < 2; ++i)
      threads.emplace_back([this, i] { meddle(numbers(seed_ * 31 + i)); });
    const bool in_the_middle = draw_() % 2 == 0;
    if (!in_the_middle) threads.clear();
    if (in_the_middle || draw_() % 2 == 0) {
      EXPECT_TRUE(rt_->shutdown().complete());
    } else {
      gate_.open();
      EXPECT_TRUE(rt_->drain());
    }
    gate_.open();
    threads.clear();
    held_.clear();
    const skua::metrics_snapshot end = rt_->metrics();
    EXPECT_EQ(end.live, 0U);
    EXPECT_EQ(end.spawned, end.ended);
    EXPECT_EQ(strayed_, 0) << "seed " << seed_;
    for (std::size_t i = 0; i < workers_; ++i) EXPECT_EQ(rt_->get_handle().tasks_on(i), 0U);
    rt_.reset();
    EXPECT_EQ(frames_.made, frames_.ended) << "seed " << seed_;
    EXPECT_EQ(frames_.alive, 0) << "seed " << seed_;
    EXPECT_EQ(frames_.wrong, 0) << "seed " << seed_;
  }

private:
  /// A thread that is no worker: spawns, wakes, aborts, drops.
  void meddle(numbers draw) {
    for (int i = 0; i < 60; ++i) {
      switch (draw() % 6) {
        case 0:
        case 1:
          hold(rt_->spawn_on(draw() % workers_, wander(*this, numbers(draw()), 3, entry(frames_))));
          break;
        case 2:
          hold(rt_->spawn_by(draw() % 7, wander(*this, numbers(draw()), 3, entry(frames_))));
          break;
        case 3:
          gate_.open_one();
          break;
        case 4:
          abort_one(draw());
          break;
        default:
          if (auto one = take(draw())) static_cast<void>(skua::sync_wait(stop_and_wait(*one)));
      }
    }
  }

  /// Waits for a task that is stopped, wherever it is.
  task<bool> stop_and_wait(skua::join_handle<int>& one) {
    gate_.open_now();
    one.abort();
    co_return (co_await one.outcome()).stopped();
  }

  static task<int> wander(storm& in, numbers draw, int depth, entry parameter) {
    const auto home = skua::this_worker();
    for (int i = 0; i < 4; ++i) {
      switch (draw() % 8) {
        case 0:
          co_await skua::yield();
          break;
        case 1:
          co_await skua::sleep(std::chrono::microseconds(draw() % 200));
          break;
        case 2:
          co_await shared_gate::wait(in.gate_);
          break;
        case 3:
          in.gate_.open_one();
          break;
        case 4:
          in.abort_one(draw());
          break;
        case 5:
          if (depth > 0) {
            auto child = wander(in, numbers(draw()), depth - 1, entry(in.frames_));
            co_await skua::run_on(draw() % in.workers_, await_it, std::move(child));
          }
          break;
        case 6:
          if (depth > 0) {
            auto child = wander(in, numbers(draw()), depth - 1, entry(in.frames_));
            in.hold(skua::spawn_on(draw() % in.workers_, std::move(child)));
          }
          break;
        default:
          if (depth > 0) {
            auto child = wander(in, numbers(draw()), depth - 1, entry(in.frames_));
            skua::spawn(std::move(child)).detach();
          }
      }
      if (skua::this_worker() != home || !parameter.whole()) ++in.strayed_;
    }
    co_return 1;
  }
  static task<> await_it(task<int> what) { co_await std::move(what); }

  void hold(skua::join_handle<int> one) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(one));
  }
  std::optional<skua::join_handle<int>> take(std::uint64_t which) {
    const std::lock_guard lock(mutex_);
    if (held_.empty()) return std::nullopt;
    std::swap(held_[which % held_.size()], held_.back());
    std::optional<skua::join_handle<int>> one(std::move(held_.back()));
    held_.pop_back();
    return one;
  }
  /// From a worker or a thread, of a task anywhere.
  void abort_one(std::uint64_t which) {
    if (auto one = take(which)) one->abort();
  }

  const std::uint64_t seed_;
  numbers draw_;
  std::size_t workers_ = 1;
  ledger frames_;
  shared_gate gate_;
  std::atomic<int> strayed_ = 0;
  std::mutex mutex_;
  std::vector<skua::join_handle<int>> held_;  // under the mutex
  std::optional<skua::runtime> rt_;           // before all that its tasks use
};

TEST(cross_worker, spawns_wakes_aborts_and_ends_meet_and_nothing_is_lost) {
  skua_test::log_recorder log;
  const skua_test::budget time(2);
  std::uint64_t seed = std::random_device()();
  std::uint64_t storms = 0;
  RecordProperty("seed", std::to_string(seed));
  for (; time.left() && !HasFailure(); ++seed, ++storms) {
    storm one(seed, log);
    one.run();
  }
  EXPECT_EQ(log.size(), 0U);
  std::printf("%llu storms, up to seed %llu\n", static_cast<unsigned long long>(storms),
              static_cast<unsigned long long>(seed));
}

/// As many as there can be between two workers, each of which waits for the other.
TEST(cross_worker, ping_pong_between_two_workers_never_sleeps_through_a_message) {
  skua::config settings;
  settings.flavour = skua::flavour::thread_per_core;
  settings.workers = 2;
  auto rt = skua_test::started(settings);
  const auto add = [](int value) { return value + 1; };
  const auto plays = [&]() -> task<int> {
    int sum = 0;
    for (int i = 0; i < 2'000; ++i) sum = co_await skua::run_on(1, add, sum);
    co_return sum;
  };
  EXPECT_EQ(skua::sync_wait(rt.spawn_on(0, plays)), 2'000);
}

}  // namespace
