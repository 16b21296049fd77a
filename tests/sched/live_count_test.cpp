// tests/sched/live_count_test.cpp: lanes, watchers, and many threads that spawn and end.
#include "sched/live_count.hpp"

#include "driver/process_barrier.hpp"
#include "skua/base/atomics.hpp"
#include "support/budget.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using live_count = skua::live_count<skua::std_atomics, skua::process_barrier>;

TEST(live_count, starts_quiet) {
  live_count scope(2);
  EXPECT_TRUE(scope.quiet());
  EXPECT_EQ(scope.shared_lane(), 2U);
}

TEST(live_count, a_task_may_end_on_another_lane_than_it_was_spawned_on) {
  live_count scope(2);
  scope.spawned(0);
  scope.spawned(scope.shared_lane());
  EXPECT_FALSE(scope.quiet());
  EXPECT_FALSE(scope.ended(1));
  EXPECT_FALSE(scope.quiet());
  EXPECT_FALSE(scope.ended(scope.shared_lane()));
  EXPECT_TRUE(scope.quiet());
  EXPECT_EQ(scope.total_spawned(), 2U);
  EXPECT_EQ(scope.total_ended(), 2U);
}

TEST(live_count, ends_say_so_while_somebody_watches) {
  live_count scope(1);
  for (int i = 0; i < 4; ++i) scope.spawned(0);
  EXPECT_FALSE(scope.ended(0));
  scope.watch();
  scope.watch();
  EXPECT_TRUE(scope.ended(0));
  scope.unwatch();
  EXPECT_TRUE(scope.ended(scope.shared_lane())) << "the other one still watches";
  scope.unwatch();
  EXPECT_FALSE(scope.ended(0));
}

TEST(live_count, without_own_lanes_all_share_one) {
  live_count scope(0);
  scope.spawned(scope.shared_lane());
  EXPECT_FALSE(scope.quiet());
  EXPECT_FALSE(scope.ended(0));
  EXPECT_TRUE(scope.quiet());
}

TEST(live_count, misuse_is_noticed) {
  live_count scope(1);
  EXPECT_DEATH(scope.spawned(2), "a lane has a number up to the shared lane's");
  EXPECT_DEATH(scope.unwatch(), "who stops watching has watched");
}

/// Tokens stand for tasks: a thread takes one from the pot, may put two back, and ends it.
class pot {
public:
  explicit pot(live_count& scope) : scope_(scope) {}

  void put(std::size_t lane, int depth) {
    scope_.spawned(lane);
    const std::lock_guard hold(mutex_);
    depths_.push_back(depth);
  }
  /// True if there was one to run.
  bool run_one(std::size_t lane, std::atomic<int>& told) {
    int depth = 0;
    {
      const std::lock_guard hold(mutex_);
      if (depths_.empty()) return false;
      depth = depths_.back();
      depths_.pop_back();
    }
    for (int i = 0; depth > 0 && i < 2; ++i) put(lane, depth - 1);
    if (scope_.ended(lane)) told.fetch_add(1);
    return true;
  }

private:
  live_count& scope_;
  std::mutex mutex_;
  std::vector<int> depths_;
};

TEST(live_count, a_waiter_is_told_and_is_never_quiet_too_early) {
  static_cast<void>(skua::process_barrier::available());
  skua_test::budget time(0.5);
  live_count scope(2);
  pot tasks(scope);
  std::atomic<int> told = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> workers;
  for (std::size_t lane = 0; lane < 4; ++lane)  // two of them share a lane
    workers.emplace_back([&, mine = lane < 2 ? lane : scope.shared_lane()] {
      while (!over.load())
        if (!tasks.run_one(mine, told)) std::this_thread::yield();
    });
  std::uint64_t expected = 0;
  while (time.left()) {
    tasks.put(scope.shared_lane(), 6);
    expected += 127;
    scope.watch();
    for (;;) {
      const int before = told.load();
      if (scope.quiet()) break;
      while (told.load() == before) std::this_thread::yield();  // for ever, if an end were missed
    }
    scope.unwatch();
    ASSERT_EQ(scope.total_spawned(), expected);
    ASSERT_EQ(scope.total_ended(), expected);
  }
  over.store(true);
  for (std::thread& each : workers) each.join();
}

}  // namespace
