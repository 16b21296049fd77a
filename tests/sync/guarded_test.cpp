// tests/sync/guarded_test.cpp: the data is reached by one at a time, and only with the lock.
#include "skua/sync/guarded.hpp"

#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using skua::guarded;
using skua::spawn_local;
using skua::task;

class sync_guarded : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_guarded, skua_test::every_kind(), skua_test::name_of_kind);

TEST(guarded, makes_its_data_of_what_it_is_given) {
  guarded<std::string> text(3U, 'x');
  const auto held = text.try_lock();
  EXPECT_EQ(*held, "xxx");
  EXPECT_EQ(held->size(), 3U);
}

TEST(guarded, is_reached_by_one_at_a_time) {
  guarded<int> number(1);
  auto held = number.try_lock();
  EXPECT_FALSE(number.try_lock());
  *held = 2;
  auto moved = std::move(held);
  EXPECT_FALSE(held);  // NOLINT(bugprone-use-after-move): that is what it says
  EXPECT_EQ(*moved, 2);
  moved.unlock();
  EXPECT_EQ(*number.try_lock(), 2);
}

TEST(guarded_death, data_without_the_lock_says_so) {
  guarded<int> number(1);
  auto held = number.try_lock();
  held.unlock();
  EXPECT_DEATH(*held = 2, "by a guard that holds the lock");
}

TEST_P(sync_guarded, is_handed_on_across_suspensions) {
  auto rt = start();
  auto body = []() -> task<> {
    guarded<std::vector<int>> shared;
    auto adds = [](guarded<std::vector<int>>& to, int number) -> task<> {
      const auto held = co_await to.lock();
      const std::size_t before = held->size();
      co_await skua::yield();
      EXPECT_EQ(held->size(), before);
      held->push_back(number);
    };
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 5; ++i) all.push_back(spawn_local(adds(shared, i)));
    for (auto& one : all) co_await std::move(one);
    EXPECT_EQ(*shared.try_lock(), (std::vector<int>{0, 1, 2, 3, 4}));
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_guarded, is_passed_on_by_one_who_got_it_and_lost_a_race) {
  auto rt = start();
  auto body = []() -> task<> {
    guarded<int> number(0);
    auto held = number.try_lock();
    auto wait = [&] { return number.lock(); };
    auto grant = [&] { held.unlock(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    EXPECT_TRUE(number.try_lock());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_guarded, a_stopped_waiter_leaves_the_line) {
  auto rt = start();
  auto body = []() -> task<> {
    guarded<int> number(0);
    auto held = number.try_lock();
    auto sets = [](guarded<int>& which) -> task<> { *co_await which.lock() = 1; };
    auto waits = spawn_local(sets(number));
    co_await skua::yield();
    waits.abort();
    EXPECT_TRUE((co_await waits.outcome()).stopped());
    held.unlock();
    EXPECT_EQ(*number.try_lock(), 0);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST(guarded_stress, nothing_is_lost) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    guarded<std::map<int, int>> shared;
    auto make = [&](skua::random_generator own) -> task<> {
      const auto held = co_await shared.lock();
      ++(*held)[static_cast<int>(own.below(10))];
    };
    const std::size_t stopped = rt.block_on(skua_test::crowd(100, 5, make, random.split()));
    std::size_t sum = 0;
    for (const auto& [key, count] : *shared.try_lock()) sum += static_cast<std::size_t>(count);
    EXPECT_EQ(sum + stopped, 100U);
  });
}

}  // namespace
