// tests/sync/channel_race_test.cpp: no message is lost in races of a channel and a timer.
#include "skua/base/sanitizer.hpp"
#include "skua/coro/race.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/skua.hpp"
#include "skua/sync/mpsc.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"
#include "sync/lost_race.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

namespace {

namespace mpsc = skua::mpsc;
using namespace std::chrono_literals;
using skua::task;

constexpr bool is_slow = skua::built_with_tsan || skua::built_with_asan;
constexpr long rounds = is_slow ? 20'000 : 1'000'000;

/// Each of them wins sometimes.
skua::sleep_wait a_moment(long round) {
  return skua::sleep(round % 3 * 300ns);
}

/// What is not sent when the time is up is sent again.
task<> send_all(mpsc::sender<long> to, long count) {
  for (long i = 0, round = 0; i < count; ++round) {
    if (round % 16 == 0) co_await a_moment(round);
    auto how = co_await skua::select(to.send(i), a_moment(round));
    if (how.index() == 0) {
      EXPECT_TRUE((*how.get<0>()));
      ++i;
    }
  }
}

struct seen {
  long received = 0;
  long timeouts = 0;
};

task<seen> receive_all(mpsc::receiver<long> from, skua_test::watchdog& hang) {
  seen all;
  for (long round = 0;; ++round) {
    auto how = co_await skua::select(from.receive(), a_moment(round));
    if (how.index() == 1) {
      ++all.timeouts;
      continue;
    }
    if (!(*how.get<0>())) break;
    if (**how.get<0>() != all.received) {
      ADD_FAILURE() << **how.get<0>() << " came instead of " << all.received;
      break;
    }
    if (++all.received % 1'000 == 0) hang.progress();
  }
  co_return all;
}

class sync_channel_race : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_channel_race,
                         testing::Values(skua_test::alone, skua_test::two_workers),
                         skua_test::name_of_kind);

TEST_P(sync_channel_race, every_number_arrives_once_and_in_order) {
  skua_test::watchdog hang("races");
  auto rt = start();
  auto body = [](long numbers, skua_test::watchdog& with) -> task<seen> {
    auto [tx, rx] = mpsc::channel<long>(2);
    auto sends = skua::spawn(send_all(std::move(tx), numbers));
    const seen all = co_await receive_all(std::move(rx), with);
    co_await std::move(sends);
    co_return all;
  };
  const seen all = rt.block_on(body(rounds, hang));
  EXPECT_EQ(all.received, rounds);
  std::printf("%ld received, %ld timeouts\n", all.received, all.timeouts);
}

// The receive itself loses nothing; what is around it decides nothing, and so may not either.
TEST_P(sync_channel_race, a_message_stays_if_what_is_around_the_receive_loses) {
  auto rt = start();
  auto body = []() -> task<> {
    auto [tx, rx] = mpsc::channel<long>(2);
    mpsc::sender<long>& to = tx;
    mpsc::receiver<long>& from = rx;
    auto send = [&to] { EXPECT_TRUE(to.try_send(7)); };
    auto by_timeout = [&from]() -> task<> { (void)co_await skua::timeout(1h, from.receive()); };
    auto by_deadline = [&from]() -> task<> {
      (void)co_await skua::with_deadline(skua::now() + 1h, from.receive());
    };
    auto by_race = [&from]() -> task<> {
      (void)co_await skua::select(from.receive(), skua::sleep(1h));
    };
    auto by_both = [&by_timeout]() -> task<> {
      (void)co_await skua::timeout(2h, skua::when_all(by_timeout(), skua::sleep(0s)));
    };
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(by_timeout, send));
    EXPECT_EQ(rx.try_receive(), 7);
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(by_deadline, send));
    EXPECT_EQ(rx.try_receive(), 7);
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(by_race, send));
    EXPECT_EQ(rx.try_receive(), 7);
    EXPECT_FALSE(co_await skua_test::got_it_and_lost(by_both, send));
    EXPECT_EQ(rx.try_receive(), 7);
  };
  rt.block_on(body());
}

// --- two that could win

/// Ready together with its neighbours, and then uses their turn up.
task<> burns(skua::event& begin) {
  co_await begin.wait();
  for (;;) co_await skua::consume_budget();
}

/// Ends as late as it can when it is stopped.
task<> is_slow_to_end() {
  const auto tidy_up = [](auto&& /*nothing*/) -> task<> { co_await skua::sleep(2ms); };
  co_await skua::with(0, [](int&) -> task<> { co_await skua::sleep(1h); }, tidy_up);
}

task<std::optional<long>> waits_slowly() {
  co_await is_slow_to_end();
  co_return std::nullopt;
}

struct two_channels {
  std::pair<mpsc::sender<long>, mpsc::receiver<long>> one = mpsc::channel<long>(2);
  std::pair<mpsc::sender<long>, mpsc::receiver<long>> two = mpsc::channel<long>(2);
  skua::event begin;

  task<> fill() {
    begin.set();
    EXPECT_TRUE(one.first.try_send(1));
    EXPECT_TRUE(two.first.try_send(2));
    co_return;
  }
  /// Of one that was selected.
  void expect_one_left(const char* by) {
    EXPECT_EQ(one.second.size() + two.second.size(), 1U) << by;
  }
};

/// `around(receiver)` gives a task that receives.
template <typename Around>
task<> one_of_two_is_taken(Around around, const char* by) {
  two_channels both;
  auto fills = skua::spawn(both.fill());
  const auto how =
      co_await skua::select(burns(both.begin), around(both.one.second), around(both.two.second));
  EXPECT_NE(how.index(), 0U);
  co_await std::move(fills);
  both.expect_one_left(by);
}

TEST_P(sync_channel_race, of_two_that_could_win_one_takes_a_message) {
  auto rt = start();
  auto body = []() -> task<> {
    auto by_timeout = [](mpsc::receiver<long>& from) -> task<> {
      (void)co_await skua::timeout(1h, from.receive());
    };
    auto by_deadline = [](mpsc::receiver<long>& from) -> task<> {
      (void)co_await skua::with_deadline(skua::now() + 1h, from.receive());
    };
    auto by_select = [](mpsc::receiver<long>& from) -> task<> {
      (void)co_await skua::select(from.receive(), skua::sleep(1h));
    };
    for (int i = 0; i < 20; ++i) {
      co_await one_of_two_is_taken(by_timeout, "timeout");
      co_await one_of_two_is_taken(by_deadline, "with_deadline");
      co_await one_of_two_is_taken(by_select, "select");
    }
  };
  rt.block_on(body());
}

TEST_P(sync_channel_race, of_two_that_wait_for_slow_losers_one_takes_a_message) {
  auto rt = start();
  auto body = []() -> task<> {
    for (int i = 0; i < 5; ++i) {
      two_channels both;
      auto fills = skua::spawn(both.fill());
      const auto how = co_await skua::select(
          skua::select(both.one.second.receive(), is_slow_to_end()),
          skua::timeout(1h, skua::race(both.two.second.receive(), waits_slowly())));
      EXPECT_LT(how.index(), 2U);
      co_await std::move(fills);
      both.expect_one_left("slow");
    }
  };
  rt.block_on(body());
}

}  // namespace
