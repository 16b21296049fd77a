// tests/sync/wait_group_test.cpp: who waits goes on when none is at work, again and again.
#include "skua/sync/wait_group.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <utility>

namespace {

using skua::spawn_local;
using skua::task;
using skua::wait_group;

class sync_wait_group : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_wait_group, skua_test::every_kind(), skua_test::name_of_kind);

task<> count_through(wait_group& group, int& count) {
  co_await group.wait();
  ++count;
}

TEST(wait_group, counts) {
  wait_group group;
  EXPECT_EQ(group.count(), 0U);
  group.add(3);
  group.done();
  EXPECT_EQ(group.count(), 2U);
  group.done(2);
  EXPECT_EQ(group.count(), 0U);
  EXPECT_EQ(wait_group(5).count(), 5U);
}

TEST(wait_group_death, more_done_than_added_says_so) {
  wait_group group(1);
  EXPECT_DEATH(group.done(2), "than were added");
}

TEST(wait_group_death, more_than_can_be_counted_says_so) {
  wait_group group(2);
  EXPECT_DEATH(group.add(~std::size_t{0}), "no more than a std::size_t holds");
}

TEST_P(sync_wait_group, can_be_used_again) {
  auto rt = start();
  auto body = []() -> task<> {
    wait_group group;
    co_await group.wait();
    group.add(0);
    co_await group.wait();
    int through = 0;
    for (int round = 1; round <= 3; ++round) {
      group.add(2);
      auto waits = spawn_local(count_through(group, through));
      co_await skua::yield();
      group.done();
      co_await skua::yield();
      EXPECT_EQ(through, round - 1);
      group.done();
      group.add();  // too late for those who waited
      co_await std::move(waits);
      EXPECT_EQ(through, round);
      group.done();
    }
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_wait_group, a_stopped_waiter_changes_nothing) {
  auto rt = start();
  auto body = []() -> task<> {
    wait_group group(1);
    int through = 0;
    auto waits = spawn_local(count_through(group, through));
    co_await skua::yield();
    waits.abort();
    EXPECT_TRUE((co_await waits.outcome()).stopped());
    EXPECT_EQ(group.count(), 1U);
    auto wait = [&] { return group.wait(); };
    auto grant = [&] { group.done(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    co_await group.wait();
    EXPECT_EQ(through, 0);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_wait_group, may_be_destroyed_by_who_has_waited) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto* const group = new wait_group(1);
      auto works = [](wait_group* in) -> task<> {
        in->done();
        co_return;
      };
      auto work = skua::spawn(works(group));
      co_await group->wait();
      delete group;
      co_await std::move(work);
    }
  };
  rt.block_on(body());
}

TEST(wait_group_stress, nobody_goes_on_while_somebody_works) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    wait_group group;
    std::atomic<std::size_t> ended = 0;
    auto works = [](wait_group& in, std::atomic<std::size_t>& count,
                    skua::random_generator own) -> task<> {
      if (own.below(2) == 0) co_await skua::yield();
      ++count;
      in.done();
    };
    auto body = [&](skua::random_generator own) -> task<> {
      std::size_t started = 0;
      for (std::size_t round = 0; round < 5; ++round) {
        for (std::uint64_t i = own.below(10); i > 0; --i) {
          ++started;
          group.add();
          skua::spawn(works(group, ended, own.split())).detach();
        }
        if (own.below(3) == 0) co_await skua::race(group.wait(), skua::yield());
        co_await group.wait();
        EXPECT_EQ(ended, started);
      }
    };
    rt.block_on(body(random.split()));
  });
}

}  // namespace
