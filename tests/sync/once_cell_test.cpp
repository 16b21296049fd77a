// tests/sync/once_cell_test.cpp: the value is made once, by whoever can.
#include "skua/sync/once_cell.hpp"

#include "skua/coro/race.hpp"
#include "skua/skua.hpp"
#include "skua/sync/event.hpp"
#include "skua/sync/lazy.hpp"
#include "support/runtimes.hpp"
#include "sync/crowd.hpp"
#include "sync/one_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using skua::event;
using skua::lazy;
using skua::once_cell;
using skua::spawn_local;
using skua::task;

class sync_once_cell : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, sync_once_cell, skua_test::every_kind(), skua_test::name_of_kind);

task<std::string> make_text(int& calls, std::string text) {
  ++calls;
  co_await skua::yield();
  co_return text;
}

TEST_P(sync_once_cell, the_first_makes_the_value_for_all) {
  auto rt = start();
  auto body = []() -> task<> {
    once_cell<std::string> cell;
    EXPECT_EQ(cell.get(), nullptr);
    int calls = 0;
    auto asks = [](once_cell<std::string>& of, int& count, const char* text) -> task<> {
      const std::string& got =
          co_await of.get_or_init(make_text, std::ref(count), std::string(text));
      EXPECT_EQ(got, "first");
      EXPECT_EQ(&got, of.get());
    };
    auto first = spawn_local(asks(cell, calls, "first"));
    auto second = spawn_local(asks(cell, calls, "second"));
    co_await std::move(first);
    co_await std::move(second);
    co_await asks(cell, calls, "late");
    EXPECT_EQ(calls, 1);
    *cell.get() += '!';
    EXPECT_EQ(*std::as_const(cell).get(), "first!");
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_once_cell, takes_what_a_plain_function_gives_and_what_can_only_be_moved) {
  auto rt = start();
  auto body = []() -> task<> {
    once_cell<std::unique_ptr<int>> cell;
    auto& got =
        co_await cell.get_or_init([](int number) { return std::make_unique<int>(number); }, 5);
    EXPECT_EQ(*got, 5);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_once_cell, if_it_throws_the_next_tries) {
  auto rt = start();
  auto body = []() -> task<> {
    once_cell<int> cell;
    auto throws = []() -> task<int> {
      co_await skua::yield();
      throw std::runtime_error("not now");
    };
    auto works = [](once_cell<int>& of) -> task<> {
      EXPECT_EQ(co_await of.get_or_init([] { return 2; }), 2);
    };
    auto fails = [](once_cell<int>& of, task<int> (*make)()) -> task<> {
      (void)co_await of.get_or_init(make);
    };
    auto first = spawn_local(fails(cell, throws));
    auto second = spawn_local(works(cell));
    const skua::outcome<void> how = co_await first.outcome();
    EXPECT_TRUE(how.exception());
    co_await std::move(second);
    EXPECT_EQ(*cell.get(), 2);
  };
  skua_test::run_on_one_worker(rt, body());
}

task<int> wait_and_make(event& before, int number) {
  co_await before.wait();
  co_return number;
}

task<> expect_value(once_cell<int>& of, event& before, int number, int expected) {
  EXPECT_EQ(co_await of.get_or_init(wait_and_make, std::ref(before), number), expected);
}

TEST_P(sync_once_cell, if_it_is_stopped_the_next_tries) {
  auto rt = start();
  auto body = []() -> task<> {
    once_cell<int> cell;
    event never;
    event now(true);
    auto first = spawn_local(expect_value(cell, never, 1, 1));
    auto waits = spawn_local(expect_value(cell, never, 2, 2));
    auto second = spawn_local(expect_value(cell, now, 3, 3));
    co_await skua::yield();
    waits.abort();  // in line
    EXPECT_TRUE((co_await waits.outcome()).stopped());
    EXPECT_EQ(cell.get(), nullptr);
    first.abort();  // in its initialiser
    EXPECT_TRUE((co_await first.outcome()).stopped());
    co_await std::move(second);
    EXPECT_EQ(*cell.get(), 3);
  };
  skua_test::run_on_one_worker(rt, body());
}

int calls_of_make_number = 0;
task<int> make_number() {
  co_return ++calls_of_make_number;
}

TEST_P(sync_once_cell, lazy_brings_its_initialiser) {
  auto rt = start();
  auto body = []() -> task<> {
    calls_of_make_number = 0;
    lazy<int> number(make_number);
    EXPECT_EQ(number.get_if_ready(), nullptr);
    EXPECT_EQ(calls_of_make_number, 0);
    EXPECT_EQ(co_await number.get(), 1);
    EXPECT_EQ(co_await number.get(), 1);
    EXPECT_EQ(*std::as_const(number).get_if_ready(), 1);
    auto own = std::make_unique<int>(7);
    lazy doubled([kept = std::move(own)] { return *kept * 2; });
    int& got = co_await doubled.get();
    EXPECT_EQ(got, 14);
    got = 15;
    EXPECT_EQ(*doubled.get_if_ready(), 15);
  };
  skua_test::run_on_one_worker(rt, body());
}

TEST_P(sync_once_cell, a_lazy_that_threw_tries_again) {
  auto rt = start();
  auto body = []() -> task<> {
    int calls = 0;
    auto make = [&calls]() -> task<int> {
      if (++calls == 1) throw std::runtime_error("not yet");
      co_return calls;
    };
    lazy number(make);
    const auto how = co_await skua::as_outcome(number.get());
    EXPECT_TRUE(how.exception());
    EXPECT_EQ(co_await number.get(), 2);
  };
  skua_test::run_on_one_worker(rt, body());
}

// Some throw, some are stopped; the value is whole and the same for all who got it.
TEST(once_cell_stress, is_made_once_whatever_happens_to_those_who_try) {
  skua_test::for_some_time([](skua::runtime& rt, skua::random_generator& random) {
    once_cell<std::vector<int>> cell;
    std::atomic<int> made = 0;
    std::atomic<std::size_t> threw = 0;
    std::atomic<std::size_t> got = 0;
    auto makes = [](std::atomic<int>& count, bool fails) -> task<std::vector<int>> {
      co_await skua::yield();
      if (fails) throw std::runtime_error("not this one");
      ++count;
      co_return std::vector<int>(10, 1);
    };
    auto asks = [&](bool fails) -> task<> {
      const std::vector<int>& all = co_await cell.get_or_init(makes, std::ref(made), fails);
      EXPECT_EQ(all, std::vector<int>(10, 1));
      ++got;
    };
    auto make = [&](skua::random_generator own) -> task<> {
      if (const auto* there = cell.get()) {
        EXPECT_EQ(there->size(), 10U);
      }
      if (own.below(4) == 0) co_await skua::race(asks(false), skua::yield());
      try {
        co_await asks(own.below(2) == 0);
      } catch (const std::runtime_error&) {
        ++threw;
      }
    };
    rt.block_on(skua_test::crowd(30, 3, make, random.split()));
    EXPECT_LE(made, 1);
    EXPECT_EQ(made == 1, cell.get() != nullptr);
    EXPECT_TRUE(made == 1 || got == 0);
  });
}

}  // namespace
