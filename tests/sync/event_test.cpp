// tests/sync/event_test.cpp: all go on when it is set, one each time if it resets itself.
#include "skua/sync/event.hpp"

#include "skua/coro/race.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/skua.hpp"
#include "skua/sync/auto_reset_event.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/lost_race.hpp"
#include "sync/one_worker.hpp"
#include "sync/second_look.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::auto_reset_event;
using skua::event;
using skua::spawn_local;
using skua::task;

class sync_event : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_event, skua_test::every_kind(), skua_test::name_of_kind);

template <typename Event>
task<> count_through(Event& which, int& count) {
  co_await which.wait();
  ++count;
}

TEST(event, is_set_until_it_is_reset) {
  event happened;
  EXPECT_FALSE(happened.is_set());
  happened.set();
  happened.set();
  EXPECT_TRUE(happened.is_set());
  happened.reset();
  EXPECT_FALSE(happened.is_set());
  EXPECT_TRUE(event(true).is_set());
}

TEST(event, a_plain_thread_waits_with_sync_wait) {
  event happened;
  std::thread sets([&] { happened.set(); });
  int count = 0;
  skua::sync_wait(count_through(happened, count));
  EXPECT_EQ(count, 1);
  sets.join();
}

TEST_P(sync_event, all_who_wait_go_on_though_it_is_reset_at_once) {
  auto rt = start();
  auto body = []() -> task<> {
    event happened;
    int count = 0;
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 5; ++i) all.push_back(spawn_local(count_through(happened, count)));
    co_await skua::yield();
    EXPECT_EQ(count, 0);
    happened.set();
    happened.reset();
    for (auto& one : all) co_await std::move(one);
    EXPECT_EQ(count, 5);
    auto late = spawn_local(count_through(happened, count));
    co_await skua::yield();
    EXPECT_EQ(count, 5) << "it was reset";
    late.abort();
    EXPECT_TRUE((co_await late.outcome()).stopped());
    happened.set();
    co_await happened.wait();
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_event, losing_a_race_after_it_was_set_takes_nothing) {
  auto rt = start();
  auto body = []() -> task<> {
    event happened;
    auto wait = [&] { return happened.wait(); };
    auto grant = [&] { happened.set(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    EXPECT_TRUE(happened.is_set());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_event, that_is_set_at_the_last_moment_is_noticed) {
  auto rt = start();
  auto body = []() -> task<> {
    event happened(true);
    auto wait = happened.wait();
    co_await skua_test::second_look(wait);
    auto_reset_event turn(true);
    auto other = turn.wait();
    co_await skua_test::second_look(other);
    EXPECT_FALSE(turn.try_wait());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_event, waiting_for_what_is_set_leaves_time_for_others) {
  auto rt = start();
  auto body = []() -> task<> {
    event happened(true);
    int count = 0;
    auto other = spawn_local(count_through(happened, count));
    int rounds = 0;
    for (; count == 0 && rounds < 10'000; ++rounds) co_await happened.wait();
    EXPECT_LT(rounds, 10'000);
    co_await std::move(other);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_event, may_be_destroyed_by_who_has_seen_it_set) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 200; ++i) {
      auto* const happened = new event;
      auto ends_it = [](event* own) -> task<> {
        co_await own->wait();
        delete own;
      };
      auto waits = skua::spawn(ends_it(happened));
      if (i % 2 == 0) co_await skua::yield();
      happened->set();
      co_await std::move(waits);
    }
  };
  rt.block_on(body());
}

TEST(auto_reset_event, remembers_once_that_it_was_set) {
  auto_reset_event turn(true);
  EXPECT_TRUE(turn.try_wait());
  EXPECT_FALSE(turn.try_wait());
  turn.set();
  turn.set();
  EXPECT_TRUE(turn.try_wait());
  EXPECT_FALSE(turn.try_wait());
  turn.set();
  turn.reset();
  EXPECT_FALSE(turn.try_wait());
}

TEST_P(sync_event, that_resets_itself_lets_one_through_each_time) {
  auto rt = start();
  auto body = []() -> task<> {
    auto_reset_event turn;
    int count = 0;
    std::vector<skua::join_handle<void>> all;
    for (int i = 0; i < 3; ++i) all.push_back(spawn_local(count_through(turn, count)));
    co_await skua::yield();
    for (int i = 1; i <= 3; ++i) {
      turn.set();
      co_await skua::yield();
      EXPECT_EQ(count, i);
    }
    for (auto& one : all) co_await std::move(one);
    EXPECT_FALSE(turn.try_wait());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_event, that_let_one_through_who_lost_a_race_is_set_again) {
  auto rt = start();
  auto body = []() -> task<> {
    auto_reset_event turn;
    auto wait = [&] { return turn.wait(); };
    auto grant = [&] { turn.set(); };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(wait, grant));
    EXPECT_TRUE(turn.try_wait());
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST(event_stress, everybody_who_is_not_stopped_goes_on) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    event happened;
    std::atomic<std::size_t> through = 0;
    auto make = [&](skua::random_generator own) -> task<> {
      const auto what = own.below(10);
      if (what == 0) happened.reset();
      if (what > 5) happened.set();
      if (own.below(3) == 0) co_await skua::race(happened.wait(), skua::yield());
      co_await skua::race(happened.wait(), [](event& which) -> task<> {
        co_await skua::yield();
        which.set();
      }(happened));
      ++through;
    };
    const std::size_t stopped = rt.block_on(skua_test::crowd(100, 5, make, random.split()));
    EXPECT_EQ(through + stopped, 100U);
  });
}

task<> answer(event& call, event& reply, std::size_t rounds) {
  for (; rounds > 0; --rounds) {
    co_await call.wait();
    call.reset();
    reply.set();
  }
}

// Each wait meets the only set() there is, at about the same time.
TEST(event_stress, being_set_while_one_goes_to_wait_is_noticed) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    event ping;
    event pong;
    auto body = [&](std::size_t rounds) -> task<> {
      auto other = skua::spawn(answer(ping, pong, rounds));
      ping.set();
      co_await answer(pong, ping, rounds);
      co_await std::move(other);
    };
    rt.block_on(body(100 + random.below(1'000)));
  });
}

task<> pass_through(auto_reset_event& turn) {
  co_await turn.wait();
  turn.set();
}

TEST(auto_reset_event_stress, hands_on_one_turn) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    auto_reset_event turn(true);
    int count = 0;  // plain: only who was let through touches it
    auto make = [&](skua::random_generator own) -> task<> {
      if (own.below(3) == 0) co_await skua::race(pass_through(turn), skua::yield());
      co_await turn.wait();
      ++count;
      turn.set();
    };
    const std::size_t stopped = rt.block_on(skua_test::crowd(100, 3, make, random.split()));
    EXPECT_EQ(static_cast<std::size_t>(count) + stopped, 100U);
    EXPECT_TRUE(turn.try_wait());
  });
}

}  // namespace
