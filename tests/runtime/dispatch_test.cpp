// tests/runtime/dispatch_test.cpp: each strategy puts tasks where it says, also under uneven load.
#include "skua/runtime/dispatch.hpp"

#include "skua/skua.hpp"
#include "support/ledger.hpp"
#include "support/runtimes.hpp"
#include "support/shared_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using skua::placement;
using skua::task;
using skua::this_worker;
using skua_test::entry;
using skua_test::ledger;
using skua_test::shared_gate;
namespace dispatch = skua::dispatch;

static_assert(skua::dispatcher<dispatch::round_robin>);
static_assert(skua::dispatcher<dispatch::least_loaded>);
static_assert(skua::dispatcher<dispatch::hash>);
static_assert(skua::dispatcher<dispatch::local_first>);
static_assert(!skua::dispatcher<int>);

// --- the strategies by themselves

using loads = std::vector<std::size_t>;

placement among(const loads& workers, std::size_t here = placement::nowhere) {
  return {workers.size(), here, &workers, [](const void* of, std::size_t worker) noexcept {
            return (*static_cast<const loads*>(of))[worker];
          }};
}

TEST(round_robin, takes_each_in_turn_whoever_spawns) {
  const loads three = {9, 0, 0};
  dispatch::round_robin strategy;
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(strategy.choose(among(three, i % 3)), i % 3);
}

TEST(least_loaded, takes_the_worker_with_the_fewest_and_equals_equally_often) {
  dispatch::least_loaded strategy;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(strategy.choose(among({4, 2, 3})), 1U);
  loads equal(4);
  for (int i = 0; i < 8; ++i) ++equal[strategy.choose(among(equal))];
  EXPECT_EQ(equal, loads(4, 2));
}

/// Tasks of very different length come and go; the load that a worker has is what counts.
TEST(least_loaded, keeps_uneven_work_within_a_tenth) {
  constexpr std::size_t workers = 4;
  struct simulated {
    loads live = loads(workers);
    loads units = loads(workers);  // of work that was placed there
  };
  const auto run = [&](auto strategy) {
    simulated all;
    std::array<std::vector<std::size_t>, workers> left;  // of each task
    std::uint64_t random = 1;
    for (int step = 0; step < 40'000; ++step) {
      if (step % 4 == 0) {  // one arrives: every fourth is 40 times as long
        random = random * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        const std::size_t length = (step / 4) % 4 == 0 ? 40 : 1 + (random >> 63U);
        const std::size_t where = strategy.choose(among(all.live));
        left[where].push_back(length);
        all.units[where] += length;
        ++all.live[where];
      }
      for (std::size_t w = 0; w < workers; ++w) {  // each worker does one unit of its first task
        if (left[w].empty()) continue;
        if (--left[w].front() > 0) continue;
        left[w].erase(left[w].begin());
        --all.live[w];
      }
    }
    const auto [least, most] = std::ranges::minmax(all.units);
    return static_cast<double>(most - least) / static_cast<double>(most);
  };
  EXPECT_LE(run(dispatch::least_loaded()), 0.10);
  EXPECT_GT(run(dispatch::round_robin()), 0.50) << "which is hit by the rhythm";
}

TEST(hash, puts_the_same_key_on_the_same_worker_and_spreads_keys) {
  dispatch::hash strategy;
  const loads eight(8);
  std::vector<int> keys(8);
  for (std::uint64_t key = 0; key < 8'000; ++key) {
    const std::size_t chosen = strategy.choose(among(eight).with_key(skua::key_number(key)));
    EXPECT_EQ(strategy.choose(among(eight, key % 8).with_key(skua::key_number(key))), chosen);
    ++keys[chosen];
  }
  EXPECT_GT(std::ranges::min(keys), 900);
  EXPECT_LT(std::ranges::max(keys), 1'100);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(strategy.choose(among(eight)), i) << "no key";
}

TEST(hash, takes_all_strings_with_the_same_text_for_one_key) {
  const std::string text = "session-17";
  EXPECT_EQ(skua::key_number(text), skua::key_number("session-17"));
  EXPECT_EQ(skua::key_number(text), skua::key_number(std::string_view(text)));
  EXPECT_NE(skua::key_number(text), skua::key_number("session-18"));
}

TEST(local_first, stays_and_sends_what_comes_from_outside_round) {
  dispatch::local_first strategy;
  const loads three(3);
  EXPECT_EQ(strategy.choose(among(three, 2)), 2U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(strategy.choose(among(three)), i % 3);
}

TEST(any_dispatcher, copies_what_it_holds) {
  skua::any_dispatcher empty;
  EXPECT_FALSE(empty);
  skua::any_dispatcher one = dispatch::round_robin();
  const loads two(2);
  EXPECT_EQ(one.choose(among(two)), 0U);
  skua::any_dispatcher copy = one;
  EXPECT_EQ(one.choose(among(two)), 1U);
  EXPECT_EQ(copy.choose(among(two)), 1U) << "it goes on from where it was copied";
  one = std::move(copy);
  EXPECT_EQ(one.choose(among(two)), 0U);
  one = empty;
  EXPECT_FALSE(one);
}

// --- in a runtime

skua::runtime started(skua::any_dispatcher with, std::size_t workers = 4) {
  skua::config settings;
  settings.flavour = skua::flavour::thread_per_core;
  settings.workers = workers;
  settings.dispatcher = std::move(with);
  return skua_test::started(settings);
}

task<std::size_t> where() {
  co_return this_worker().value();
}

/// How many of so many tasks ran on each worker: from outside, or as children of one.
std::vector<int> spread(skua::runtime& rt, int tasks, bool from_inside) {
  std::vector<int> counts(rt.workers());
  const auto spawns = [&]() -> task<> {
    for (int i = 0; i < tasks; ++i) ++counts[co_await skua::spawn(where)];
  };
  if (from_inside)
    skua::sync_wait(rt.spawn_on(1, spawns));
  else
    for (int i = 0; i < tasks; ++i) ++counts[skua::sync_wait(rt.spawn(where))];
  return counts;
}

TEST(dispatcher, round_robin_spreads_roots_and_children_alike) {
  auto rt = started(dispatch::round_robin());
  EXPECT_EQ(spread(rt, 40, false), std::vector<int>(4, 10));
  EXPECT_EQ(spread(rt, 40, true), std::vector<int>(4, 10));
}

TEST(dispatcher, local_first_keeps_children) {
  auto rt = started(dispatch::local_first());
  EXPECT_EQ(spread(rt, 40, false), std::vector<int>(4, 10));
  EXPECT_EQ(spread(rt, 40, true), (std::vector<int>{0, 40, 0, 0}));
}

TEST(dispatcher, hash_keeps_tasks_with_a_key_together) {
  auto rt = started(dispatch::hash());
  std::map<int, std::size_t> home;
  for (int i = 0; i < 200; ++i) {
    const int key = i % 20;
    const std::size_t there = skua::sync_wait(rt.spawn_by(key, where));
    const auto [known, first] = home.try_emplace(key, there);
    EXPECT_EQ(known->second, there);
  }
  const auto inside = [&]() -> task<> {
    for (const auto& [key, there] : home) EXPECT_EQ(co_await skua::spawn_by(key, where), there);
  };
  rt.block_on(inside);
}

/// Every second task stays; the others end at once. Taken in turn, all that stay would be on the
/// same workers.
std::vector<std::size_t> those_that_stay(skua::runtime& rt, shared_gate& gate, std::size_t count) {
  std::vector<std::size_t> stay(rt.workers());
  const auto stays = [&]() -> task<std::size_t> {
    const std::size_t home = this_worker().value();
    co_await shared_gate::wait(gate);
    co_return home;
  };
  std::vector<skua::join_handle<std::size_t>> held;
  for (std::size_t i = 0; i < count; ++i) {
    held.push_back(rt.spawn(stays));
    gate.await_waiters(i + 1);
    static_cast<void>(skua::sync_wait(rt.spawn(where)));
  }
  gate.open();
  for (auto& one : held) ++stay[skua::sync_wait(std::move(one))];
  for (std::size_t i = 0; i < rt.workers(); ++i)
    EXPECT_EQ(rt.get_handle().tasks_on(i), 0U) << "who has ended is no load";
  return stay;
}

TEST(dispatcher, least_loaded_evens_out_tasks_that_stay_and_tasks_that_end) {
  constexpr std::size_t count = 200;
  shared_gate gate;
  auto rt = started(dispatch::least_loaded());
  const auto stay = those_that_stay(rt, gate, count);
  EXPECT_LE(std::ranges::max(stay) - std::ranges::min(stay), count / 4 / 10) << "a tenth of each";
  shared_gate other;
  auto in_turn = started(dispatch::round_robin());
  EXPECT_EQ(those_that_stay(in_turn, other, count), (std::vector<std::size_t>{100, 0, 100, 0}));
}

/// From several threads and workers at once, with children, it stays even.
TEST(dispatcher, least_loaded_is_even_when_many_spawn_at_once) {
  constexpr std::size_t spawners = 4;
  constexpr std::size_t each = 250;
  shared_gate gate;
  auto rt = started(dispatch::least_loaded());
  const auto stays = [&]() -> task<> { co_await shared_gate::wait(gate); };
  const auto spawns = [&]() -> task<> {
    for (std::size_t i = 0; i < each; ++i) {
      skua::spawn(stays).detach();
      co_await skua::yield();
    }
  };
  for (std::size_t i = 0; i < spawners; ++i) rt.spawn_on(i, spawns).detach();
  gate.await_waiters(spawners * each);
  std::vector<std::size_t> tasks;
  const skua::runtime_handle all = rt.get_handle();
  for (std::size_t i = 0; i < rt.workers(); ++i) tasks.push_back(all.tasks_on(i));
  EXPECT_LE(std::ranges::max(tasks) - std::ranges::min(tasks), 25U) << "a tenth of 250";
  gate.open();
  EXPECT_TRUE(rt.drain());
}

// --- the user's own

struct always {
  std::size_t worker;
  [[nodiscard]] std::size_t choose(const placement&) const { return worker; }
};

TEST(dispatcher, of_the_user_is_asked) {
  auto rt = started(always{3});
  EXPECT_EQ(spread(rt, 10, true), (std::vector<int>{0, 0, 0, 10}));
}

template <typename Error, typename Spawn>
std::string what_is_thrown(Spawn&& spawn) {
  try {
    spawn();
  } catch (const Error& thrown) {
    return thrown.what();
  }
  return "nothing";
}

TEST(dispatcher, that_chooses_a_worker_that_does_not_exist_is_an_error_and_nothing_is_lost) {
  auto rt = started(always{4});
  ledger frames;
  const auto takes = [](entry parameter) { EXPECT_TRUE(parameter.whole()); };
  const std::string words = "skua: config::dispatcher has chosen worker 4 of a runtime that has 4";
  EXPECT_EQ(what_is_thrown<std::out_of_range>(
                [&] { rt.spawn(skua::call(takes, entry(frames))).detach(); }),
            words);
  EXPECT_EQ(
      what_is_thrown<std::out_of_range>([&] { rt.block_on(skua::call(takes, entry(frames))); }),
      words);
  EXPECT_EQ(what_is_thrown<std::out_of_range>([&] {
              rt.wait_all(skua::call(takes, entry(frames)), skua::call(takes, entry(frames)));
            }),
            words);
  const auto inside = [&]() -> task<> {
    EXPECT_EQ(what_is_thrown<std::out_of_range>(
                  [&] { skua::spawn(skua::call(takes, entry(frames))).detach(); }),
              words);
    co_await skua::spawn_local(skua::call(takes, entry(frames)));
  };
  skua::sync_wait(rt.spawn_on(0, inside));
  EXPECT_TRUE(frames.balanced(6));
  EXPECT_TRUE(rt.drain());  // who is awaited counts for a moment more
  EXPECT_EQ(rt.metrics().live, 0U);
}

struct throws {
  static std::size_t choose(const placement&) { throw std::runtime_error("no idea"); }
};

TEST(dispatcher, that_throws_fails_the_spawn_and_nothing_is_lost) {
  auto rt = started(throws());
  ledger frames;
  const auto takes = [](entry parameter) { EXPECT_TRUE(parameter.whole()); };
  EXPECT_EQ(what_is_thrown<std::runtime_error>(
                [&] { rt.spawn(skua::call(takes, entry(frames))).detach(); }),
            "no idea");
  EXPECT_EQ(
      what_is_thrown<std::runtime_error>([&] { rt.block_on(skua::call(takes, entry(frames))); }),
      "no idea");
  EXPECT_TRUE(frames.balanced(2));
  EXPECT_TRUE(rt.shutdown().complete());
}

TEST(dispatcher, is_refused_where_nothing_is_placed_and_no_worker_is_none) {
  skua::config settings;
  settings.dispatcher = dispatch::round_robin();
  auto refused = skua::runtime::start(settings);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message().find("config::dispatcher is set, but config::flavour"), 0U);
  settings.flavour = skua::flavour::thread_per_core;
  settings.workers = 0;
  refused = skua::runtime::start(settings);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(), "config::workers is 0; a runtime has at least one worker");
}

}  // namespace
