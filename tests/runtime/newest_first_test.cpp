// tests/runtime/newest_first_test.cpp: order::lifo: what runs first, who waits, what is alive.
#include "runtime/current.hpp"
#include "runtime/worker.hpp"
#include "skua/skua.hpp"
#include "support/budget.hpp"
#include "support/event.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skua::spawn;
using skua::task;
using skua_test::kind;
using skua_test::one_worker;
using skua_test::one_worker_lifo;
using skua_test::started;
using skua_test::two_workers_lifo;

task<> writes(std::string& to, char letter) {
  to += letter;
  co_return;
}

/// The order in which five children run that were spawned as a, b, c, d, e.
std::string order_of_five(const kind& which) {
  auto rt = started(which.settings());
  std::string log;
  auto body = [](std::string& to) -> task<> {
    std::vector<skua::join_handle<void>> all;
    for (const char letter : {'a', 'b', 'c', 'd', 'e'}) all.push_back(spawn(writes(to, letter)));
    for (auto& one : all) co_await std::move(one);
  };
  rt.block_on(body(log));
  return log;
}

TEST(newest_first, the_last_that_was_spawned_runs_first) {
  EXPECT_EQ(order_of_five(one_worker_lifo), "edcba");
  EXPECT_EQ(order_of_five(one_worker), "abcde");  // the oldest, if it is awaited; not the slot
}

TEST(newest_first, holds_without_the_slot) {
  skua::config with = one_worker_lifo.settings();
  with.lifo_slot = false;
  auto rt = started(with);
  std::string log;
  auto body = [](std::string& to) -> task<> {
    auto first = spawn(writes(to, 'a'));
    auto second = spawn(writes(to, 'b'));
    co_await std::move(first);
  };
  rt.block_on(body(log));
  EXPECT_EQ(log, "ba");
}

TEST(newest_first, those_that_give_way_run_in_the_order_in_which_they_did) {
  auto rt = started(one_worker_lifo.settings());
  std::string log;
  auto gives_way = [](std::string& to, char letter) -> task<> {
    co_await skua::yield();
    to += letter;
  };
  auto body = [](decltype(gives_way)& make, std::string& to) -> task<> {
    std::vector<skua::join_handle<void>> all;
    for (const char letter : {'a', 'b', 'c', 'd'}) all.push_back(spawn(make(to, letter)));
    for (auto& one : all) co_await std::move(one);
  };
  rt.block_on(body(gives_way, log));
  EXPECT_EQ(log, "dcba");  // they began newest first
}

// --- nobody waits for ever

std::uint64_t resumes() {
  return skua::current().as->counters().polls.read();
}

/// Tasks that spawn their successors before they end: there is always something newer.
struct crowd {
  bool over = false;
  std::uint64_t turns = 0;

  bool goes_on() { return !over && ++turns < 200'000; }
};

task<> spawns_its_successor(crowd& all) {
  if (all.goes_on()) spawn(spawns_its_successor(all));
  co_return;
}

struct latecomer {
  std::uint64_t came = 0;
  std::uint64_t waited = 0;

  void has_its_turn(crowd& all) {
    waited = resumes() - came;
    all.over = true;
  }
};

skua::config one_without_slot() {
  skua::config with = one_worker_lifo.settings();
  with.lifo_slot = false;
  with.event_interval = 61;
  with.global_queue_interval = 5;
  return with;
}

task<> late(latecomer& me, crowd& others) {
  me.has_its_turn(others);
  co_return;
}

/// How many turns it takes until one has its own that is older than all the others.
std::uint64_t wait_of_the_oldest(const skua::config& with) {
  auto rt = started(with);
  crowd all;
  latecomer oldest;
  auto body = [](latecomer& who, crowd& others) -> task<> {
    who.came = resumes();
    auto handle = spawn(late(who, others));
    spawn(spawns_its_successor(others));  // and so on: always newer
    co_await std::move(handle);
  };
  rt.block_on(body(oldest, all));
  return oldest.waited;
}

TEST(newest_first, leaves_the_oldest_a_turn_now_and_then) {
  const std::uint64_t waited = wait_of_the_oldest(one_without_slot());
  EXPECT_GT(waited, 61U);  // it is the oldest
  EXPECT_LE(waited, (64U * 5) + (2 * 61));
}

TEST(newest_first, leaves_others_a_turn_after_three_from_the_slot) {
  skua::config with = one_without_slot();
  with.lifo_slot = true;
  EXPECT_LE(wait_of_the_oldest(with), 5U);
}

TEST(newest_first, leaves_one_that_gave_way_a_turn_now_and_then) {
  auto rt = started(one_without_slot());
  crowd all;
  latecomer who;
  auto body = [](latecomer& me, crowd& others) -> task<> {
    spawn(spawns_its_successor(others));
    me.came = resumes();
    co_await skua::yield();
    me.has_its_turn(others);
  };
  rt.block_on(body(who, all));
  EXPECT_LE(who.waited, 61U + 1);
}

TEST(newest_first, one_that_gives_way_for_ever_keeps_nobody_out) {
  auto rt = started(one_worker_lifo.settings());
  auto body = []() -> task<> {
    bool over = false;
    std::uint64_t turns = 0;
    auto gives_way = [](const bool& end, std::uint64_t& count) -> task<> {
      while (!end && ++count < 200'000) co_await skua::yield();
    };
    auto busy = spawn(gives_way(over, turns));
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t before = turns;
      auto nothing = []() -> task<> { co_return; };
      co_await spawn(nothing());  // woken by its child: it does not wait for the other one
      EXPECT_LE(turns - before, 2U);
    }
    over = true;
    co_await std::move(busy);
  };
  rt.block_on(body());
}

// --- others take part

TEST(newest_first, a_worker_that_computes_is_left_nothing) {
  static constexpr int count = 100;
  auto rt = started(two_workers_lifo.settings());
  auto body = []() -> task<> {
    std::atomic<int> ran = 0;
    auto counts = [](std::atomic<int>& to) -> task<> {
      ++to;
      co_return;
    };
    for (int i = 0; i < count; ++i) spawn(counts(ran)).detach();
    // Its deque is stolen, and its slot rescued.
    const auto patience = std::chrono::steady_clock::now() + 30s;
    while (ran < count && std::chrono::steady_clock::now() < patience) {
    }
    EXPECT_EQ(ran, count);
    co_return;
  };
  rt.block_on(body());
  // Each rescue takes one at most. There may be several: also while this worker spawned, if it had
  // no processor for a while.
  const auto seen = rt.metrics();
  std::uint64_t stolen = 0;
  std::uint64_t rescues = 0;
  for (const skua::worker_metrics& one : seen.workers) {
    stolen += one.items_stolen;
    rescues += one.rescues;
  }
  EXPECT_GT(stolen, 0U);
  EXPECT_GE(stolen + rescues, std::uint64_t{count});
}

TEST(newest_first, a_thief_gets_the_oldest) {
  skua::config with = two_workers_lifo.settings();
  with.rescue = false;  // that begins with the slot
  auto rt = started(with);
  auto body = []() -> task<> {
    std::atomic<char> first = 0;
    skua_test::event begun;
    auto notes = [](std::atomic<char>& to, skua_test::event& done, char letter) -> task<> {
      char none = 0;
      to.compare_exchange_strong(none, letter);
      done.set();
      co_return;
    };
    std::vector<skua::join_handle<void>> all;
    for (const char letter : {'a', 'b', 'c', 'd'})
      all.push_back(spawn(notes(first, begun, letter)));
    begun.wait();  // this worker stands still: the other one runs them
    for (auto& one : all) co_await std::move(one);
    EXPECT_EQ(first.load(), 'a');
  };
  rt.block_on(body());
}

TEST(newest_first, more_than_a_deque_holds_are_shared) {
  static constexpr int count = 70'000;
  auto rt = started(one_worker_lifo.settings());
  auto body = []() -> task<> {
    std::atomic<int> ran = 0;
    auto counts = [](std::atomic<int>& to) -> task<> {
      ++to;
      co_return;
    };
    for (int i = 0; i < count; ++i) spawn(counts(ran)).detach();
    while (ran < count) co_await skua::yield();
  };
  rt.block_on(body());
  EXPECT_GE(rt.metrics().workers[0].overflows, std::uint64_t{count - 65'536 - 1});
}

// --- fork and join

/// One in each frame, as a parameter.
class counted {
public:
  counted() {
    const long now = ++alive;
    for (long most = peak; most < now && !peak.compare_exchange_weak(most, now);) {
    }
  }
  counted(const counted&) : counted() {}
  counted& operator=(const counted&) = delete;
  ~counted() { --alive; }

  inline static std::atomic<long> alive = 0;
  inline static std::atomic<long> peak = 0;
};

task<std::uint64_t> skynet(std::uint64_t number, std::uint64_t size, counted = counted()) {
  constexpr std::uint64_t children = 10;
  if (size == 1) co_return number;
  std::vector<skua::join_handle<std::uint64_t>> handles;
  for (std::uint64_t i = 0; i < children; ++i)
    handles.push_back(spawn(skynet(number + (i * size / children), size / children)));
  std::uint64_t sum = 0;
  for (auto& one : handles) sum += co_await std::move(one);
  co_return sum;
}

/// How many frames were alive at once in a tree of so many leaves.
long frames_at_once(const kind& which, std::uint64_t leaves) {
  skua::config with = which.settings();
  with.global_queue_interval = 127;  // what it comes to with turns as short as these
  auto rt = started(with);
  counted::peak = 0;
  EXPECT_EQ(rt.block_on(skynet(0, leaves)), leaves * (leaves - 1) / 2);
  EXPECT_EQ(counted::alive, 0);
  return counted::peak;
}

// A leaf, and above it all the siblings that wait; the oldest has a turn every 8,128 turns, and a
// thief now and then, and each begins a branch. Ten times the leaves are ten frames more for each.
TEST(newest_first, a_tree_of_100000_leaves_needs_frames_by_its_depth) {
  for (const kind& which : {one_worker_lifo, two_workers_lifo}) {
    std::array<long, 3> frames{};
    std::uint64_t leaves = 1'000;
    for (long& each : frames) {
      each = frames_at_once(which, leaves);
      leaves *= 10;
    }
    std::printf("%s: 1,000 leaves %ld frames, 10,000 %ld, 100,000 %ld\n",
                testing::PrintToString(which).c_str(), frames[0], frames[1], frames[2]);
    EXPECT_LE(frames[2], 1'000);
  }
  EXPECT_LE(frames_at_once(one_worker_lifo, 1'000), 3 * 9 + 2 + 10);  // no rhythm comes in between
  std::printf("multi_thread_1: 100,000 leaves %ld frames\n", frames_at_once(one_worker, 100'000));
}

task<std::uint64_t> fib(std::uint64_t n) {
  if (n < 2) co_return n;
  auto one = spawn(fib(n - 1));
  auto other = spawn(fib(n - 2));
  const std::uint64_t first = co_await std::move(one);
  if (n % 5 == 0) co_await skua::yield();
  co_return first + co_await std::move(other);
}

TEST(newest_first_stress, trees_come_out_right_on_any_number_of_workers) {
  int rounds = 0;
  for (const skua_test::budget time(1); time.left(); ++rounds) {
    skua::config with = two_workers_lifo.settings();
    with.workers = static_cast<std::size_t>(1 + (rounds % 4));
    with.lifo_slot = rounds % 3 != 0;
    with.seed = static_cast<std::uint64_t>(rounds);
    auto rt = started(with);
    EXPECT_EQ(rt.block_on(fib(16)), 987U);
    EXPECT_EQ(rt.block_on(skynet(0, 1'000)), 499'500U);
  }
  std::printf("%d rounds\n", rounds);
}

}  // namespace
