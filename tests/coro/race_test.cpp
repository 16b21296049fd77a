// tests/coro/race_test.cpp: the first decides, the others are stopped, and all are awaited.
#include "skua/coro/race.hpp"

#include "skua/coro/as_outcome.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/when_all.hpp"
#include "skua/coro/yield.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <coroutine>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using skua::race;
using skua::select;
using skua::task;
using skua::when_any;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

task<std::size_t> place(std::size_t number) {
  co_return number;
}
task<int> give(int value) {
  co_return value;
}
task<> nothing() {
  co_return;
}
task<int> wait_for(gate& at) {
  co_return co_await gate::wait(at);
}
task<int> fail_at(gate& at) {
  co_await gate::wait(at);
  throw std::runtime_error("no");
}

TEST(race, gives_the_value_of_the_first_and_stops_the_others) {
  manual_executor here;
  gate first;
  gate second;
  auto body = [](gate& a, gate& b) -> task<int> {
    co_return co_await race(wait_for(a), wait_for(b));
  };
  driven<int> all(here, body(first, second));
  here.run_ready();
  second.open(2);
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(*all.result(), 2);
  EXPECT_FALSE(first.waited_for());
}

TEST(race, waits_for_those_that_lost) {
  manual_executor here;
  gate slow;
  slow.answer = skua::cancel_answer::pending;
  gate quick;
  auto body = [](gate& a, gate& b) -> task<int> {
    co_return co_await race(wait_for(a), wait_for(b));
  };
  driven<int> all(here, body(slow, quick));
  here.run_ready();
  quick.open(2);
  here.run_ready();
  EXPECT_FALSE(all.ended()) << "the other has not let go";
  slow.open(1);
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(*all.result(), 2) << "a value that comes too late is not the first";
}

TEST(race, is_decided_by_an_exception_too) {
  manual_executor here;
  gate first;
  gate second;
  auto body = [](gate& a, gate& b) -> task<int> {
    co_return co_await race(fail_at(a), wait_for(b));
  };
  driven<int> all(here, body(first, second));
  here.run_ready();
  first.open();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().has_exception());
  EXPECT_FALSE(second.waited_for());
}

TEST(race, that_is_stopped_unwinds_when_all_have_ended) {
  manual_executor here;
  gate first;
  gate second;
  second.answer = skua::cancel_answer::pending;
  auto body = [](gate& a, gate& b) -> task<int> {
    co_return co_await race(wait_for(a), wait_for(b));
  };
  driven<int> all(here, body(first, second));
  here.run_ready();
  all.request_stop();
  here.run_ready();
  EXPECT_FALSE(all.ended());
  second.open_cancelled();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(all.result().stopped());
}

TEST(race, that_is_stopped_gives_a_value_that_was_there_first) {
  manual_executor here;
  gate first;
  gate second;
  auto body = [](gate& a, gate& b) -> task<int> {
    co_return co_await race(wait_for(a), wait_for(b));
  };
  driven<int> all(here, body(first, second));
  here.run_ready();
  first.open(1);
  all.request_stop();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(*all.result(), 1);
}

TEST(race, of_different_types_gives_a_variant) {
  manual_executor here;
  auto body = []() -> task<std::size_t> {
    const std::variant<skua::unit, int> first = co_await race(nothing(), give(2));
    co_return first.index();
  };
  driven<std::size_t> all(here, body());
  here.run_ready();
  EXPECT_LT(*all.result(), 2U);
}

task<int> both(gate& a, gate& b) {
  auto [one, two] = co_await skua::when_all(wait_for(a), wait_for(b));
  co_return one + two;
}

// The one that lost has branches of its own, which are stopped one by one.
TEST(race, waits_for_all_that_is_beneath_the_ones_that_lost) {
  manual_executor here;
  gate first;
  gate second;
  second.answer = skua::cancel_answer::pending;
  gate quick;
  auto body = [](gate& a, gate& b, gate& c) -> task<int> {
    co_return co_await race(both(a, b), wait_for(c));
  };
  driven<int> all(here, body(first, second, quick));
  here.run_ready();
  quick.open(7);
  here.run_ready();
  EXPECT_FALSE(all.ended()) << "one beneath has not let go";
  second.open_cancelled();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(*all.result(), 7);
}

// All that are ready at once have the same chance, however often this is asked.
TEST(race, favours_none_at_the_start) {
  manual_executor here;
  std::array<int, 3> wins{};
  auto body = [](std::array<int, 3>& won) -> task<> {
    for (int i = 0; i < 900; ++i) ++won.at(co_await race(place(0), place(1), place(2)));
  };
  driven<void> all(here, body(wins));
  here.run_ready();
  ASSERT_TRUE(all.ended());
  for (const int one : wins) EXPECT_GT(one, 200);
}

// A branch that has just begun has waited for nothing yet, which must not decide.
TEST(race, favours_none_in_a_new_branch) {
  manual_executor here;
  std::array<int, 2> wins{};
  auto inner = []() -> task<std::size_t> { co_return co_await race(place(0), place(1)); };
  auto body = [&inner](std::array<int, 2>& won) -> task<> {
    for (int i = 0; i < 400; ++i) {
      auto [which, none] = co_await skua::when_all(inner(), nothing());
      ++won.at(which);
    }
  };
  driven<void> all(here, body(wins));
  here.run_ready();
  ASSERT_TRUE(all.ended());
  for (const int one : wins) EXPECT_GT(one, 100);
}

// What is ready at once in the turn of a task waits for nothing, and counts against the turn.
TEST(race, favours_none_in_a_turn) {
  manual_executor here;
  skua::turn now;
  std::array<int, 2> wins{};
  auto inner = []() -> task<std::size_t> { co_return co_await race(place(0), place(1)); };
  auto body = [&inner](skua::turn& mine, std::array<int, 2>& won) -> task<> {
    for (int i = 0; i < 400; ++i) {
      if (i % 100 == 0) mine.budget = 1'000;
      auto [which, none] = co_await skua::when_all(inner(), nothing());
      ++won.at(which);
      ++won.at(co_await inner());
    }
  };
  driven<void> all(here, body(now, wins));
  all.in_turn = &now;
  here.run_ready();
  ASSERT_TRUE(all.ended());
  for (const int one : wins) EXPECT_GT(one, 200);
}

// To give way is no wait, and the next turn has as much as the one before.
TEST(race, favours_none_of_those_that_give_way) {
  manual_executor here;
  skua::turn now;
  std::array<int, 2> wins{};
  auto later = [](std::size_t number) -> task<std::size_t> {
    co_await skua::yield();
    co_return number;
  };
  auto body = [&later](skua::turn& mine, std::array<int, 2>& won) -> task<> {
    for (int i = 0; i < 400; ++i) {
      mine.budget = 1'000;
      ++won.at(co_await race(later(0), later(1)));
    }
  };
  driven<void> all(here, body(now, wins));
  all.in_turn = &now;
  here.run_ready();
  ASSERT_TRUE(all.ended());
  for (const int one : wins) EXPECT_GT(one, 100);
}

/// Takes any coroutine_handle; has to be resumed to know that it is over.
struct foreign_lock {
  std::coroutine_handle<> waiting;
  bool taken = false;
  struct awaiter {
    foreign_lock& of;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const noexcept { of.waiting = self; }
    void await_resume() const noexcept { of.taken = true; }
  };
  awaiter lock() { return awaiter{*this}; }
};

// It cannot be asked to let go, nor can it give back what it got.
TEST(race, resumes_a_foreign_awaitable_though_it_has_lost) {
  manual_executor here;
  gate quick;
  foreign_lock lock;
  auto waits = [](foreign_lock& which) -> task<int> {
    auto wait = which.lock();
    co_await wait;
    co_return 1;
  };
  auto body = [&waits](gate& at, foreign_lock& which) -> task<int> {
    co_return co_await race(waits(which), wait_for(at));
  };
  driven<int> all(here, body(quick, lock));
  here.run_ready();
  quick.open(2);
  here.run_ready();
  EXPECT_FALSE(all.ended());
  lock.waiting.resume();
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_TRUE(lock.taken);
  EXPECT_EQ(*all.result(), 2);
}

TEST(race, starts_what_was_postponed_and_is_shielded_though_it_has_lost) {
  for (const bool is_shielded : {true, false}) {
    manual_executor here;
    gate late;
    late.is_postponed = true;
    auto waits = [is_shielded](gate& at) -> task<int> {
      if (!is_shielded) co_return co_await gate::wait(at);
      co_return co_await skua::shielded(gate::wait(at));
    };
    auto body = [&waits](gate& at) -> task<int> { co_return co_await race(waits(at), give(2)); };
    driven<int> all(here, body(late));
    here.run_ready();
    EXPECT_EQ(late.waited_for(), is_shielded);
    EXPECT_EQ(all.ended(), !is_shielded);
    if (is_shielded) late.open(1);
    here.run_ready();
    ASSERT_TRUE(all.ended());
    EXPECT_EQ(*all.result(), 2);
  }
}

// Nobody's value is taken but that of the first: it stays where it was for the next time.
TEST(race, takes_nothing_from_those_that_were_ready_too) {
  manual_executor here;
  gate first;
  gate second;
  auto body = [](gate& a, gate& b) -> task<int> {
    const auto which = co_await select(gate::wait(a), gate::wait(b));
    co_return which.is<0>() ? 0 : 1;
  };
  driven<int> all(here, body(first, second));
  here.run_ready();
  first.open(7);
  second.open(8);
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(*all.result(), 0);
}

TEST(select, tells_which_was_the_first) {
  manual_executor here;
  gate first;
  gate second;
  auto body = [](gate& a, gate& b) -> task<std::string> {
    auto event = co_await select(wait_for(a), gate::wait(b), nothing());
    EXPECT_EQ(event.index(), 2U);
    EXPECT_NE(event.get<2>(), nullptr);
    auto more = co_await select(wait_for(a), gate::wait(b));
    EXPECT_TRUE(more.is<1>());
    EXPECT_EQ(more.get<0>(), nullptr);
    co_return std::to_string(*more.get<1>());
  };
  driven<std::string> all(here, body(first, second));
  here.run_ready();
  second.open(5);
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(*all.result(), "5");
}

TEST(when_any, of_a_vector_tells_which_and_what) {
  manual_executor here;
  std::array<gate, 5> gates;
  auto body = [](std::array<gate, 5>& at) -> task<int> {
    std::vector<task<int>> tasks;
    tasks.reserve(at.size());
    for (gate& one : at) tasks.push_back(wait_for(one));
    auto first = co_await when_any(std::move(tasks));
    co_return static_cast<int>(first.index()) * 100 + first.value();
  };
  driven<int> all(here, body(gates));
  here.run_ready();
  gates[3].open(7);
  here.run_ready();
  ASSERT_TRUE(all.ended());
  EXPECT_EQ(*all.result(), 307);
}

TEST(when_any_death, of_nothing_says_so) {
  manual_executor here;
  auto body = []() -> task<> { co_await when_any(std::vector<task<int>>()); };
  EXPECT_DEATH(
      {
        driven<void> all(here, body());
        here.run_ready();
      },
      "one task at least");
}

}  // namespace
