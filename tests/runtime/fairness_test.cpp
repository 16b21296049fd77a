// tests/runtime/fairness_test.cpp: whoever is ready gets a turn after a bounded number of others.
#include "driver/driver.hpp"
#include "driver/timer_wheel.hpp"
#include "runtime/current.hpp"
#include "runtime/worker.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/random.hpp"
#include "skua/skua.hpp"
#include "support/shared_gate.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

using skua::spawn;
using skua::task;
using skua_test::kind;
using skua_test::shared_gate;
using skua_test::started;

/// Everything that is looked at now and then is looked at at least every 127 resumes.
constexpr std::uint64_t bound = 3 * std::uint64_t{61};

/// How many turns the calling worker has given to tasks: the time of these tests.
std::uint64_t resumes() {
  return skua::current().as->counters().polls.read();
}

/// There is one worker, so all of its tasks share this without locks.
struct crowd {
  std::uint64_t turns = 0;
  bool over = false;
  std::uint64_t most = 200'000;  // then it gives up, so that a test fails instead of hanging

  bool goes_on() {
    ++turns;
    return !over && turns < most;
  }
};

task<> passes_on(crowd& all, shared_gate& mine, shared_gate& next) {
  while (all.goes_on()) {
    next.let_one_through();
    co_await shared_gate::wait(mine);
  }
  next.let_one_through();
}

task<> two_that_wake_each_other(crowd& all) {
  shared_gate first;
  shared_gate second;
  auto one = spawn(passes_on(all, first, second));
  auto two = spawn(passes_on(all, second, first));
  co_await std::move(one);
  co_await std::move(two);
}

task<> nothing() {
  co_return;
}

task<> spawns_for_ever(crowd& all) {
  while (all.goes_on()) {
    spawn(nothing());
    co_await skua::yield();
  }
}

task<> spawns_its_successor(crowd& all) {
  if (all.goes_on()) spawn(spawns_its_successor(all));
  co_return;
}

task<> spawns_spawners(crowd& all) {
  while (all.goes_on()) {
    auto child = [](crowd& of) -> task<> {
      ++of.turns;
      spawn(nothing());
      co_return;
    };
    spawn(child(all));
    co_await skua::yield();
  }
}

/// Notes how many resumes it took until it had its turn.
struct latecomer {
  const std::uint64_t came = resumes();
  std::uint64_t waited = 0;
  shared_gate done;

  void has_its_turn() {
    waited = resumes() - came;
    done.open();
  }
};

task<> run(latecomer& who) {
  who.has_its_turn();
  co_return;
}

/// Where the latecomer waits.
enum class place : unsigned char { own_queue, shared_queue, at_home, driver };

struct note_timer : skua::timer {
  explicit note_timer(latecomer& whose) noexcept : timer(fired), who(whose) {}
  static void fired(timer& self) noexcept { static_cast<note_timer&>(self).who.has_its_turn(); }
  latecomer& who;
};

void spawn_from_another_thread(latecomer& who) {
  const auto here = skua::runtime_handle::current();
  std::thread([&] { here.spawn(run(who)).detach(); }).join();
}

task<std::uint64_t> wait_in(place where) {
  latecomer who;
  note_timer at(who);
  if (where == place::own_queue) {
    spawn(run(who));
    spawn(nothing());  // takes the slot from it
  } else if (where == place::shared_queue) {
    spawn_from_another_thread(who);
  } else if (where == place::at_home) {
    skua::spawn_local(run(who));
  } else {
    at.deadline = 0;  // long ago
    skua::current().as->sleeps_in().add(at);
  }
  co_await shared_gate::wait(who.done);
  co_return who.waited;
}

using crowd_function = task<> (*)(crowd&);

task<std::uint64_t> longest_wait(crowd& all, crowd_function others, place where, int times) {
  auto busy = spawn(others(all));
  std::uint64_t longest = 0;
  for (int i = 0; i < times; ++i) {
    const std::uint64_t until = all.turns + 97;  // so that it comes at all moments of the rhythms
    while (all.turns < until && all.turns < all.most) co_await skua::yield();
    longest = std::max(longest, co_await wait_in(where));
  }
  all.over = true;
  co_await std::move(busy);
  co_return longest;
}

class fairness : public testing::TestWithParam<kind> {
protected:
  static void expect_bounded(crowd_function others, place where) {
    auto rt = started(GetParam().settings());
    crowd all;
    EXPECT_LE(rt.block_on(longest_wait(all, others, where, 100)), bound);
  }
};

INSTANTIATE_TEST_SUITE_P(one, fairness, skua_test::kinds_with_one_worker(),
                         skua_test::name_of_kind);

TEST_P(fairness, two_that_wake_each_other_leave_turns_for_their_own_queue) {
  expect_bounded(two_that_wake_each_other, place::own_queue);
}
TEST_P(fairness, two_that_wake_each_other_leave_turns_for_the_shared_queue) {
  expect_bounded(two_that_wake_each_other, place::shared_queue);
}
TEST_P(fairness, two_that_wake_each_other_leave_turns_for_tasks_at_home) {
  expect_bounded(two_that_wake_each_other, place::at_home);
}
TEST_P(fairness, two_that_wake_each_other_leave_turns_for_the_driver) {
  expect_bounded(two_that_wake_each_other, place::driver);
}

TEST_P(fairness, a_spawner_leaves_turns_for_the_shared_queue) {
  expect_bounded(spawns_for_ever, place::shared_queue);
}
TEST_P(fairness, a_spawner_leaves_turns_for_tasks_at_home) {
  expect_bounded(spawns_for_ever, place::at_home);
}
TEST_P(fairness, a_spawner_leaves_turns_for_the_driver) {
  expect_bounded(spawns_for_ever, place::driver);
}

TEST_P(fairness, a_line_of_successors_leaves_turns_for_everybody) {
  for (const place where : {place::own_queue, place::shared_queue, place::at_home, place::driver})
    expect_bounded(spawns_its_successor, where);
}

TEST_P(fairness, a_spawner_of_spawners_leaves_turns_for_everybody) {
  for (const place where : {place::own_queue, place::shared_queue, place::at_home, place::driver})
    expect_bounded(spawns_spawners, where);
}

task<> two_at_home(crowd& all) {
  shared_gate first;
  shared_gate second;
  auto one = skua::spawn_local(passes_on(all, first, second));
  auto two = skua::spawn_local(passes_on(all, second, first));
  co_await std::move(one);
  co_await std::move(two);
}

TEST_P(fairness, two_at_home_leave_turns_for_everybody) {
  for (const place where : {place::own_queue, place::shared_queue, place::at_home, place::driver})
    expect_bounded(two_at_home, where);
}

TEST_P(fairness, holds_without_the_slot) {
  skua::config without = GetParam().settings();
  without.lifo_slot = false;
  for (const place where : {place::own_queue, place::shared_queue, place::at_home, place::driver}) {
    auto rt = started(without);
    crowd all;
    EXPECT_LE(rt.block_on(longest_wait(all, two_that_wake_each_other, where, 20)), bound);
  }
}

/// How often a worker looks at the shared queue depends on how long tasks take. Here the test says
/// how long that is, in a manual clock: sometimes 1.6 microseconds, sometimes 2.2.
struct timed_crowd {
  skua::manual_clock clock;
  skua::random_generator random{20'261'116};
  std::int64_t each = 1'574;

  void takes_time(std::uint64_t turn) {
    if (turn % 61 == 0) each = random.below(2) == 0 ? 1'574 : 2'222;
    clock.advance(each);
  }
};

task<> passes_time(crowd& all, timed_crowd& time) {
  while (all.goes_on()) {
    time.takes_time(all.turns);
    co_await skua::yield();
  }
}

task<std::uint64_t> longest_wait_in_time(crowd& all, timed_crowd& time, int times) {
  auto busy = spawn(passes_time(all, time));
  std::uint64_t longest = 0;
  for (int i = 0; i < times; ++i) {
    longest = std::max(longest, co_await wait_in(place::shared_queue));
  }
  all.over = true;
  co_await std::move(busy);
  co_return longest;
}

TEST_P(fairness, the_shared_queue_has_its_turn_however_the_time_of_turns_changes) {
  timed_crowd time;
  skua::config with = GetParam().settings();
  with.clock = &time.clock;
  auto rt = started(with);
  crowd all;
  EXPECT_LE(rt.block_on(longest_wait_in_time(all, time, 500)), bound);
}

/// Each turn makes two: the own queue is never empty, and in multi_thread overflows all the time
/// into the shared one.
task<> grows(crowd& all) {
  if (all.goes_on()) {
    spawn(grows(all));
    spawn(grows(all));
  }
  co_return;
}

task<std::uint64_t> wait_at_home_in_a_flood(crowd& all) {
  spawn(grows(all));
  while (all.turns < 2'000) co_await skua::yield();
  const std::uint64_t waited = co_await wait_in(place::at_home);
  all.over = true;
  co_return waited;
}

// 2 is what the runtime itself comes to, when tasks take 100 microseconds each.
TEST_P(fairness, tasks_at_home_have_their_turn_while_both_queues_are_full) {
  if (GetParam().is_placed()) GTEST_SKIP() << "all tasks are at home, in one queue";
  for (const std::size_t interval : {2U, 3U, 61U}) {
    skua::config with = GetParam().settings();
    with.global_queue_interval = interval;
    auto rt = started(with);
    crowd all;
    all.most = 20'000;
    EXPECT_LE(rt.block_on(wait_at_home_in_a_flood(all)), bound) << "every " << interval;
  }
}

/// Counts what it does, and never waits.
struct spinner {
  std::uint64_t operations = 0;
  bool over = false;
};

task<> spins(spinner& all) {
  while (!all.over && all.operations < 1'000'000) {
    co_await skua::consume_budget();
    ++all.operations;
  }
}

task<> joins_what_has_ended(spinner& all) {
  auto ended = spawn(nothing());
  while (!ended.done()) co_await skua::yield();
  while (!all.over && all.operations < 1'000'000) {
    co_await ended.wait();
    ++all.operations;
  }
}

/// How many operations the other one did between turns of this one.
task<std::vector<std::uint64_t>> watch(spinner& all, int turns) {
  std::vector<std::uint64_t> done;
  while (all.operations == 0) co_await skua::yield();
  for (int i = 0; i < turns; ++i) {
    const std::uint64_t before = all.operations;
    co_await skua::yield();
    done.push_back(all.operations - before);
  }
  all.over = true;
  co_return done;
}

using spin_function = task<> (*)(spinner&);

task<std::vector<std::uint64_t>> operations_per_turn(spin_function others) {
  spinner all;
  auto busy = spawn(others(all));
  auto done = co_await watch(all, 50);
  co_await std::move(busy);
  co_return done;
}

TEST_P(fairness, whoever_only_uses_up_his_budget_gives_way_when_it_is_used_up) {
  for (const std::uint32_t budget : {1U, 10U, 128U}) {
    for (const spin_function how : {spins, joins_what_has_ended}) {
      skua::config with = GetParam().settings();
      with.budget = budget;
      auto rt = started(with);
      // The one that made it give way is done, too, when it comes back.
      for (const std::uint64_t done : rt.block_on(operations_per_turn(how)))
        EXPECT_EQ(done, budget + 1);
    }
  }
}

task<> spins_a_while(spinner& all, int times) {
  for (int i = 0; i < times; ++i) {
    co_await skua::consume_budget();
    ++all.operations;
  }
}

TEST_P(fairness, whoever_is_unconstrained_does_not_give_way) {
  auto rt = started(GetParam().settings());
  auto body = []() -> task<> {
    spinner all;
    bool others_ran = false;
    auto other = [](bool& ran) -> task<> {
      ran = true;
      co_return;
    };
    auto handle = spawn(other(others_ran));
    co_await skua::unconstrained(spins_a_while(all, 10'000));
    co_await skua::unconstrained(skua::unconstrained(spins_a_while(all, 1)));
    EXPECT_FALSE(others_ran);
    co_await spins_a_while(all, 129);  // constrained again
    EXPECT_TRUE(others_ran);
    co_await std::move(handle);
  };
  rt.block_on(body());
}

TEST(fairness_of_the_slot, the_one_who_is_woken_has_what_is_left_of_the_wakers_turn) {
  skua::config with = skua_test::one_worker.settings();
  with.budget = 100;
  auto rt = started(with);
  auto body = []() -> task<> {
    spinner waker;
    spinner woken;
    bool others_ran = false;
    shared_gate start;
    auto second = [](spinner& mine, shared_gate& at, const bool& ran) -> task<std::uint64_t> {
      co_await shared_gate::wait(at);
      while (!ran) co_await spins_a_while(mine, 1);
      co_return mine.operations;
    };
    auto handle = spawn(second(woken, start, others_ran));
    while (start.waiters() == 0) co_await skua::yield();
    co_await skua::yield();  // a new turn
    auto other = [](bool& ran) -> task<> {
      ran = true;
      co_return;
    };
    spawn(other(others_ran));
    co_await spins_a_while(waker, 70);
    start.let_one_through();  // takes the slot; the other goes to the queue
    EXPECT_EQ(co_await std::move(handle), 31U);
  };
  rt.block_on(body());
}

/// Of two workers: one spawns, the other steals.
struct theft {
  std::atomic<bool> slot_is_used = false;
  std::atomic<bool> some_can_be_stolen = false;
  std::atomic<int> stolen = 0;
};

void spin_until(const auto& holds) {
  while (!holds()) std::this_thread::yield();
}

task<> do_a_little(theft& all) {
  for (int i = 0; i < 8; ++i) co_await skua::consume_budget();
  ++all.stolen;
}

/// From the slot of the thief: leaves next to nothing of the turn.
task<> do_much(theft& all) {
  for (int i = 0; i < 28; ++i) co_await skua::consume_budget();
  all.slot_is_used = true;
  spin_until([&] { return all.some_can_be_stolen.load(); });
}
task<> leave_one_in_the_slot(theft& all) {
  co_await skua::consume_budget();
  spawn(do_much(all)).detach();
}

task<> be_stolen_from(theft& all) {
  spawn(leave_one_in_the_slot(all)).detach();
  spawn(do_a_little(all)).detach();  // now the other can be stolen
  spin_until([&] { return all.slot_is_used.load(); });
  for (int i = 0; i < 9; ++i) spawn(do_a_little(all)).detach();
  all.some_can_be_stolen = true;
  spin_until([&] { return all.stolen > 0; });
  co_return;
}

TEST(fairness_of_the_slot, one_that_is_stolen_has_a_turn_of_its_own) {
  for (int i = 0; i < 20; ++i) {
    theft all;
    skua::config settings = skua_test::two_workers.settings();
    settings.budget = 32;
    skua::runtime here = skua_test::started(settings);
    here.block_on(be_stolen_from(all));
    for (const auto& one : here.metrics().workers) EXPECT_EQ(one.budget_yields, 0U);
  }
}

}  // namespace
