// tests/runtime/stress_test.cpp: random trees of tasks on runtimes that come and go, all counted.
#include "runtime/forest.hpp"
#include "runtime/tree.hpp"
#include "skua/base/random.hpp"
#include "skua/coro/task_cancelled.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::flavour;
using skua::random_generator;
using skua::runtime;
using skua::task;
using skua_test::forest;
using skua_test::watchdog;

/// SKUA_TEST_SEED, or another one each time.
std::uint64_t seed_of_this_run() {
  const char* const set = std::getenv("SKUA_TEST_SEED");
  if (set != nullptr && *set != '\0') return std::strtoull(set, nullptr, 10);
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// What a test has covered; several threads add.
struct tally {
  std::atomic<std::uint64_t> runtimes{0}, tasks{0}, began{0}, finished{0}, threw{0}, snapshots{0},
      unhandled{0};

  void add(forest& done) {
    const forest::sums sums = done.verify();
    tasks += sums.planted;
    began += sums.began;
    finished += sums.finished;
    threw += sums.threw;
    runtimes += done.runtimes;
  }
  void print(const char* what) const {
    const auto number = [](const std::atomic<std::uint64_t>& of) {
      return static_cast<unsigned long long>(of.load());
    };
    std::printf(
        "%s: %llu tasks (%llu began, %llu finished, %llu threw, of which %llu to the log), "
        "%llu runtimes, %llu snapshots\n",
        what, number(tasks), number(began), number(finished), number(threw), number(unhandled),
        number(runtimes), number(snapshots));
  }
  static void count_unhandled(void* self, const skua::log_record&) {
    ++static_cast<tally*>(self)->unhandled;
  }
};

/// One of the values.
template <typename T, std::size_t count>
T any_of(random_generator& random, const std::array<T, count>& values) {
  return values[random.below(count)];
}

skua::any_dispatcher any_dispatcher(random_generator& random) {
  switch (random.below(3)) {
    case 0:
      return skua::dispatch::round_robin();
    case 1:
      return skua::dispatch::least_loaded();
    default:
      return {};
  }
}

/// Settings under which the rare is frequent.
skua::config any_config(random_generator& random, flavour which, tally& sums) {
  skua::config chosen;
  chosen.flavour = which;
  if (which != flavour::current_thread)
    chosen.workers = any_of<std::size_t, 8>(random, {1, 2, 2, 3, 4, 4, 8, 16});
  if (which == flavour::multi_thread && random.below(3) == 0) chosen.order = skua::order::lifo;
  if (which == flavour::thread_per_core) chosen.dispatcher = any_dispatcher(random);
  chosen.lifo_slot = random.below(4) != 0;
  chosen.budget = any_of<std::uint32_t, 3>(random, {1, 8, 128});
  chosen.event_interval = any_of<std::uint32_t, 3>(random, {1, 7, 61});
  chosen.global_queue_interval = any_of<std::size_t, 3>(random, {skua::config::automatic, 2, 31});
  chosen.spawn_queue_limit = any_of<std::size_t, 3>(random, {1, 64, 65'536});
  chosen.blocking_threads = any_of<std::size_t, 4>(random, {1, 3, 512, 512});
  chosen.blocking_keep_alive = any_of<std::int64_t, 3>(random, {0, 100'000, 10'000'000'000});
  chosen.seed = random.next();
  chosen.log = skua::logger(tally::count_unhandled, &sums);
  return chosen;
}

forest::habits habits_in(const skua::config& with) {
  return {with.flavour == flavour::multi_thread, with.blocking_threads == 512};
}

runtime start(const skua::config& with, tally& sums) {
  auto made = runtime::start(with);
  if (!made) {
    std::fprintf(stderr, "no runtime: %s\n", std::string(made.error().message()).c_str());
    std::abort();
  }
  ++sums.runtimes;
  return std::move(*made);
}

/// Spawns trees from a thread that is not the runtime's; keeps, drops, aborts and joins them, and
/// what it finds in the forest's bag.
class friend_outside {
public:
  friend_outside(forest& in, skua::runtime_handle at, random_generator random)
      : in_(in), at_(std::move(at)), random_(random) {}

  void live() {
    for (std::uint64_t i = 1 + random_.below(60); i > 0; --i) step();
    for (forest::kept& one : handles_) {
      switch (random_.below(3)) {
        case 0:
          in_.give(std::move(one));
          break;
        case 1:
          join_elsewhere(in_, std::move(one), random_.next());
          break;
        default:
          break;  // drops it
      }
    }
    handles_.clear();
  }

private:
  void step() {
    switch (random_.below(8)) {
      case 0:
        if (auto found = in_.take(random_.next())) found->handle.abort();
        break;
      case 1:
        if (auto found = in_.take(random_.next())) handles_.push_back(std::move(*found));
        break;
      case 2:
        if (!handles_.empty()) handles_[random_.below(handles_.size())].handle.abort();
        break;
      default:
        spawn();
    }
  }

  void spawn() {
    std::optional<forest::witness> planted = in_.plant();
    if (!planted) return;
    const std::size_t number = planted->tree();
    auto root = skua_test::grow(std::move(*planted), 0);
    if (random_.below(4) == 0) {
      if (auto got = at_.try_spawn(std::move(root))) handles_.push_back({std::move(*got), number});
    } else {
      handles_.push_back({at_.spawn(std::move(root)), number});
    }
  }

  forest& in_;
  skua::runtime_handle at_;
  random_generator random_;
  std::vector<forest::kept> handles_;
};

/// A few of them, each on a thread of its own.
class friends {
public:
  friends(std::size_t count, forest& in, const skua::runtime_handle& at, random_generator& random)
      : left_(count) {
    for (std::size_t i = 0; i < count; ++i)
      threads_.emplace_back([this, &in, at, own = random.split()] {
        friend_outside(in, at, own).live();
        --left_;
      });
  }
  [[nodiscard]] bool gone() const { return left_ == 0; }
  void join() {
    for (std::thread& one : threads_) one.join();
    threads_.clear();
  }

private:
  std::atomic<std::size_t> left_;
  std::vector<std::thread> threads_;
};

/// Runs a tree in the foreground.
void block_on_a_tree(runtime& at, forest& in) {
  std::optional<forest::witness> planted = in.plant();
  if (!planted) return;
  const std::size_t number = planted->tree();
  using skua_test::ending;
  ending how = ending::value;
  try {
    EXPECT_EQ(at.block_on(skua_test::grow(std::move(*planted), 0)), number);
  } catch (const skua_test::fell& thrown) {
    EXPECT_EQ(thrown.tree(), number);
    how = ending::exception;
  } catch (const skua::task_cancelled&) {
    how = ending::stopped;
  }
  in.joins(number, how);
}

task<void> until_quiet(const forest& all, const friends& outside) {
  while (!outside.gone() || all.live() > 0) co_await skua::yield();
}

/// Until all trees have ended by themselves.
void let_end(runtime& at, forest& in, friends& outside, flavour which) {
  if (which == flavour::current_thread) at.block_on(until_quiet(in, outside));
  outside.join();
  while (in.live() > 0) std::this_thread::yield();
}

/// One runtime, from its start to its end.
void one_round(random_generator& random, flavour which, tally& sums, watchdog& hang) {
  const skua::config with = any_config(random, which, sums);
  forest all(random.next(), any_of<std::size_t, 3>(random, {50, 500, 5'000}), habits_in(with),
             hang);
  std::optional<runtime> rt(start(with, sums));
  std::optional<watchdog::registration> watched(std::in_place, hang, rt->get_handle());
  friends outside(1 + random.below(4), all, rt->get_handle(), random);
  for (std::uint64_t i = random.below(4); i > 0; --i) block_on_a_tree(*rt, all);
  if (random.below(2) == 0) let_end(*rt, all, outside, which);
  if (random.below(4) == 0) watched.reset();  // so that the last reference is not always ours
  if (random.below(2) == 0) {
    EXPECT_TRUE(rt->shutdown().complete());
  }
  if (random.below(2) == 0) all.empty_bag();
  rt.reset();
  outside.join();
  if (watched) {
    const skua::metrics_snapshot end = watched->what().metrics();
    EXPECT_EQ(end.spawned, end.ended);
  }
  all.expect_all_done();
  sums.add(all);
}

void many_rounds(flavour which, const char* name) {
  const std::uint64_t seed = seed_of_this_run();
  std::printf("SKUA_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  random_generator random(seed);
  tally sums;
  watchdog hang("seed " + std::to_string(seed) + ", " + name);
  for (const skua_test::budget time(3); time.left() && !testing::Test::HasFailure();)
    one_round(random, which, sums, hang);
  sums.print(name);
  EXPECT_GT(sums.finished.load(), 0U);
}

TEST(stress, every_task_of_a_multi_thread_runtime_is_accounted_for) {
  many_rounds(flavour::multi_thread, "multi_thread");
}

TEST(stress, every_task_of_a_current_thread_runtime_is_accounted_for) {
  many_rounds(flavour::current_thread, "current_thread");
}

TEST(stress, every_task_of_a_thread_per_core_runtime_is_accounted_for) {
  many_rounds(flavour::thread_per_core, "thread_per_core");
}

/// A task that ends its own runtime, while others are in the middle of something.
task<void> ends_its_runtime(std::unique_ptr<runtime> own, std::uint64_t turns) {
  for (; turns > 0; --turns) co_await skua::yield();
  own.reset();
}

/// Makes a runtime, starts trees and lets go of it at once, in one of the ways there are.
class passer_by {
public:
  passer_by(random_generator random, tally& sums, watchdog& hang)
      : random_(random), sums_(sums), hang_(hang) {}

  void pass() {
    const auto which =
        any_of<flavour, 4>(random_, {flavour::current_thread, flavour::multi_thread,
                                     flavour::multi_thread, flavour::thread_per_core});
    skua::config with = any_config(random_, which, sums_);
    if (which != flavour::current_thread && random_.below(4) != 0)
      with.workers = 1 + random_.below(3);
    forest all(random_.next(), 60, habits_in(with), hang_);
    auto rt = std::make_unique<runtime>(start(with, sums_));
    std::optional<watchdog::registration> watched(std::in_place, hang_, rt->get_handle());
    for (std::uint64_t i = random_.below(6); i > 0; --i) spawn(*rt, all);
    if (random_.below(4) == 0) watched.reset();
    leave(std::move(rt), which);
    while (all.live() > 0) std::this_thread::yield();
    watched.reset();
    sums_.add(all);
  }

private:
  void spawn(const runtime& at, forest& in) {
    std::optional<forest::witness> planted = in.plant();
    if (!planted) return;
    const std::size_t number = planted->tree();
    forest::kept one{at.get_handle().spawn(skua_test::grow(std::move(*planted), 2)), number};
    if (random_.below(2) == 0) in.give(std::move(one));  // and otherwise drops it
  }

  void leave(std::unique_ptr<runtime> rt, flavour which) {
    switch (random_.below(5)) {
      case 0:
        return leave_it_to_a_task(std::move(rt), which);
      case 1: {  // several at once
        std::thread other([&] { (void)rt->shutdown(); });
        (void)rt->shutdown();
        other.join();
        break;
      }
      case 2:
        // Nobody would run on what is left of a current_thread runtime.
        if (which != flavour::current_thread) (void)rt->shutdown(std::chrono::nanoseconds(0));
        break;
      default:
        break;
    }
  }

  void leave_it_to_a_task(std::unique_ptr<runtime> rt, flavour which) {
    runtime& at = *rt;
    task<void> last = ends_its_runtime(std::move(rt), random_.below(5));
    if (which != flavour::current_thread) return at.spawn(std::move(last)).detach();
    try {
      at.block_on(std::move(last));
    } catch (const skua::task_cancelled&) {  // it asked for that
    }
  }

  random_generator random_;
  tally& sums_;
  watchdog& hang_;
};

TEST(stress, runtimes_come_and_go_with_tasks_in_flight_and_can_be_looked_at) {
  const std::uint64_t seed = seed_of_this_run();
  std::printf("SKUA_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  random_generator random(seed);
  tally sums;
  watchdog hang("seed " + std::to_string(seed) + ", come and go");
  const skua_test::budget time(3);
  std::atomic<bool> over = false;
  std::thread looks([&] {
    while (!over) {
      for (const skua::runtime_handle& one : hang.watched()) {
        const skua::metrics_snapshot now = one.metrics();
        EXPECT_LE(now.ended, now.spawned);
        std::uint64_t last = 0;
        for (const skua::task_info& each : one.tasks()) {
          EXPECT_GT(each.id, last) << "each task is seen once";
          last = each.id;
        }
        ++sums.snapshots;
      }
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> passing;
  for (int i = 0; i < 3; ++i)
    passing.emplace_back([&, own = random.split()] {
      passer_by one(own, sums, hang);
      while (time.left() && !testing::Test::HasFailure()) one.pass();
    });
  for (std::thread& one : passing) one.join();
  over = true;
  looks.join();
  sums.print("come and go");
  EXPECT_GT(sums.began.load(), 0U);
  EXPECT_GT(sums.snapshots.load(), 0U);
}

}  // namespace
