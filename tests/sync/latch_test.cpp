// tests/sync/latch_test.cpp: all go on when it has come to zero.
#include "skua/sync/latch.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"
#include "sync/second_look.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

using skua::latch;
using skua::spawn_local;
using skua::task;

class sync_latch : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_latch, skua_test::every_kind(), skua_test::name_of_kind);

TEST(latch, opens_when_all_is_counted_down) {
  latch done(3);
  done.count_down();
  done.count_down(0);
  EXPECT_FALSE(done.try_wait());
  done.count_down(2);
  EXPECT_TRUE(done.try_wait());
  EXPECT_TRUE(latch(0).try_wait());
}

TEST(latch_death, counting_below_zero_says_so) {
  latch done(1);
  EXPECT_DEATH(done.count_down(2), "down to 0, and no further");
}

TEST_P(sync_latch, who_waits_goes_on_with_the_last_count) {
  auto rt = start();
  auto body = []() -> task<> {
    latch done(2);
    int through = 0;
    auto waits = [](latch& on, int& count) -> task<> {
      co_await on.wait();
      ++count;
    };
    auto arrives = [](latch& on, int& count) -> task<> {
      co_await on.arrive_and_wait();
      ++count;
    };
    auto first = spawn_local(waits(done, through));
    auto second = spawn_local(arrives(done, through));
    co_await skua::yield();
    EXPECT_EQ(through, 0);
    done.count_down();
    co_await std::move(first);
    co_await std::move(second);
    co_await done.wait();
    EXPECT_EQ(through, 2);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_latch, what_a_stopped_task_has_counted_stays_counted) {
  auto rt = start();
  auto body = []() -> task<> {
    latch done(2);
    auto arrives = [](latch& on) -> task<> { co_await on.arrive_and_wait(); };
    auto first = spawn_local(arrives(done));
    auto never = spawn_local(arrives(done));
    never.abort();
    co_await skua::yield();
    first.abort();
    EXPECT_TRUE((co_await first.outcome()).stopped());
    EXPECT_TRUE((co_await never.outcome()).stopped());
    EXPECT_FALSE(done.try_wait()) << "who was stopped before it began has not arrived";
    auto wait = [&] { return done.wait(); };
    auto grant = [&] { done.count_down(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    EXPECT_TRUE(done.try_wait());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_latch, may_be_destroyed_by_who_has_waited) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto* const done = new latch(2);
      auto counts = [](latch* on) -> task<> {
        on->count_down();
        co_return;
      };
      auto first = skua::spawn(counts(done));
      auto second = skua::spawn(counts(done));
      co_await done->wait();
      delete done;
      co_await std::move(first);
      co_await std::move(second);
    }
  };
  rt.block_on(body());
}

TEST(latch_stress, nobody_goes_on_too_early_or_never) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    constexpr std::size_t count = 40;
    latch done(count);
    std::atomic<std::size_t> arrived = 0;
    auto make = [&](skua::random_generator own) -> task<> {
      ++arrived;
      const auto how = own.below(3);
      if (how == 0) {
        done.count_down();
        co_await done.wait();
      } else if (how == 1) {
        co_await skua::race(done.arrive_and_wait(), skua::yield());
        co_await done.wait();
      } else {
        co_await done.arrive_and_wait();
      }
      EXPECT_EQ(arrived, count);
    };
    rt.block_on(skua_test::crowd(count, 0, make, random.split()));
    EXPECT_TRUE(done.try_wait());
  });
}

}  // namespace
