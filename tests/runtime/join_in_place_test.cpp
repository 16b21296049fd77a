// tests/runtime/join_in_place_test.cpp: who awaits a task that would be next runs it.
#include "skua/runtime/block_in_place.hpp"
#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::join_handle;
using skua::spawn;
using skua::task;

task<int> give(int value) {
  co_return value;
}

task<> append(std::string& to, char what) {
  to += what;
  co_return;
}

std::uint64_t turns(const skua::runtime& of) {
  std::uint64_t sum = 0;
  for (const auto& one : of.metrics().workers) sum += one.polls;
  return sum;
}

/// With one worker, so that what runs when is known; not those that place tasks.
class join_in_place : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(one_worker, join_in_place,
                         testing::Values(skua_test::alone, skua_test::one_worker,
                                         skua_test::one_worker_lifo),
                         skua_test::name_of_kind);

class join_in_place_anywhere : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, join_in_place_anywhere, skua_test::every_kind(),
                         skua_test::name_of_kind);

TEST_P(join_in_place, awaiting_a_new_task_costs_one_turn_not_two) {
  auto rt = start();
  const auto script = []() -> task<int> {
    int sum = 0;
    for (int i = 0; i < 1'000; ++i) sum += co_await spawn(give(1));
    co_return sum;
  };
  const std::uint64_t before = turns(rt);
  EXPECT_EQ(rt.block_on(script), 1'000);
  EXPECT_GE(turns(rt) - before, 1'000U);
  EXPECT_LE(turns(rt) - before, 1'100U) << "the awaiting task had a turn for each";
}

TEST_P(join_in_place, a_row_of_tasks_is_joined_in_one_turn_each) {
  if (GetParam().order == skua::order::lifo) GTEST_SKIP() << "there the last comes first";
  auto rt = start();
  const auto script = []() -> task<int> {
    std::vector<join_handle<int>> all;
    for (int i = 0; i < 100; ++i) all.push_back(spawn(give(1)));
    int sum = 0;
    for (auto& one : all) sum += co_await std::move(one);
    co_return sum;
  };
  const std::uint64_t before = turns(rt);
  EXPECT_EQ(rt.block_on(script), 100);
  EXPECT_LE(turns(rt) - before, 110U);
}

TEST_P(join_in_place, a_tree_grows_depth_first_whatever_is_in_line) {
  if (!multi()) GTEST_SKIP() << "it has a plain list";
  auto rt = start();
  std::string order;
  const auto script = [&]() -> task<std::string> {
    for (int i = 0; i < 3; ++i) spawn(append(order, 'o')).detach();
    auto one = spawn(append(order, 'a'));
    auto other = spawn(append(order, 'b'));  // takes the slot, and the one before is in line
    co_await std::move(one);
    co_await std::move(other);
    co_return order;
  };
  EXPECT_EQ(rt.block_on(script), "ab");
}

TEST_P(join_in_place, one_that_gave_way_stays_behind_the_others) {
  if (!multi() || GetParam().order == skua::order::lifo)
    GTEST_SKIP() << "another comes first there";
  auto rt = start();
  std::string order;
  const auto gives_way = [&](char what) -> task<> {
    co_await skua::yield();
    order += what;
  };
  const auto script = [&]() -> task<> {
    auto one = spawn(gives_way, 'a');
    auto other = spawn(gives_way, 'x');  // in the slot: it begins, and gives way, before the first
    co_await skua::yield();
    co_await std::move(one);  // the last in line
    co_await std::move(other);
  };
  rt.block_on(script);
  EXPECT_EQ(order, "xa");
}

TEST_P(join_in_place, others_have_their_turn_soon) {
  auto rt = start();
  bool other_ran = false;
  const auto other = [&]() -> task<> {
    other_ran = true;
    co_return;
  };
  const auto script = [&]() -> task<int> {
    spawn(other).detach();
    spawn(other).detach();  // takes the slot, and the other one is in line
    other_ran = false;
    int rounds = 0;
    while (!other_ran && rounds < 10'000) rounds += co_await spawn(give(1));
    co_return rounds;
  };
  // Where there is a slot, until the turn's budget is used up, which the slot inherits.
  EXPECT_LE(rt.block_on(script), multi() ? 128 : 8);
}

TEST_P(join_in_place, a_branch_does_not_keep_the_other_branches_waiting) {
  auto rt = start();
  std::string order;
  const auto awaits = [](join_handle<void> whom) -> task<> { co_await std::move(whom); };
  const auto script = [&]() -> task<> {
    auto child = spawn(append(order, 'c'));
    co_await skua::when_all(awaits(std::move(child)), append(order, 'b'));
  };
  rt.block_on(script);
  EXPECT_EQ(order, "bc");
}

TEST_P(join_in_place, who_is_to_stop_does_not_run_what_it_would_await) {
  auto rt = start();
  std::string order;
  struct noted {
    explicit noted(std::string& to) : at(to) {}
    ~noted() { at += 'u'; }
    std::string& at;
  };
  join_handle<void>* self = nullptr;
  const auto parent = [&]() -> task<> {
    const noted unwound(order);
    self->abort();
    co_await spawn(append(order, 'c'));
    order += '!';
  };
  const auto script = [&]() -> task<> {
    auto handle = spawn(parent);
    self = &handle;
    co_await handle.wait();
    co_await skua::yield();
  };
  rt.block_on(script);
  EXPECT_EQ(order, "uc") << "it unwound before the other one ran";
}

TEST_P(join_in_place, a_child_that_stops_its_parent_gives_its_value_first) {
  auto rt = start();
  int got = 0;
  bool went_on = false;
  join_handle<void>* whom = nullptr;
  const auto child = [&]() -> task<int> {
    whom->abort();
    co_return 7;
  };
  const auto parent = [&]() -> task<> {
    got = co_await spawn(child);
    co_await skua::yield();
    went_on = true;
  };
  const auto script = [&]() -> task<> {
    auto handle = spawn(parent);
    whom = &handle;
    co_await handle.wait();
  };
  rt.block_on(script);
  EXPECT_EQ(got, 7);
  EXPECT_FALSE(went_on);
}

TEST_P(join_in_place_anywhere, a_child_that_waits_is_waited_for) {
  auto rt = start();
  const auto script = []() -> task<int> {
    skua::event happened;
    const auto child = [&]() -> task<int> {
      co_await happened.wait();
      co_return 5;
    };
    const auto later = [&]() -> task<> {
      co_await skua::yield();
      happened.set();
    };
    auto other = spawn(later);
    const int got = co_await spawn(child);
    co_await std::move(other);
    co_return got;
  };
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rt.block_on(script), 5);
}

TEST_P(join_in_place_anywhere, who_only_waits_has_a_handle_that_is_done) {
  auto rt = start();
  const auto script = []() -> task<int> {
    int sum = 0;
    for (int i = 0; i < 100; ++i) {
      auto child = spawn(give(1));
      co_await child.wait();
      EXPECT_TRUE(child.done());
      EXPECT_FALSE(child.abort());
      if (child.done()) sum += co_await std::move(child);
    }
    co_return sum;
  };
  EXPECT_EQ(rt.block_on(script), 100);
}

// Each look pins the cell for a moment, and who looked last may have to free it.
TEST_P(join_in_place_anywhere, somebody_may_look_on) {
  auto rt = start();
  std::atomic<bool> over{false};
  std::thread looks([&] {
    while (!over) static_cast<void>(rt.tasks());
  });
  const auto script = []() -> task<int> {
    int sum = 0;
    for (int i = 0; i < 10'000; ++i) {
      auto child = spawn(give(1));
      if (i % 3 == 0) co_await child.wait();
      if (i % 2 == 0)
        sum += co_await std::move(child);
      else
        sum += (co_await child.outcome()).value();
    }
    co_return sum;
  };
  EXPECT_EQ(rt.block_on(script), 10'000);
  over = true;
  looks.join();
  EXPECT_TRUE(rt.tasks().empty());
}

/// A task that looks whether its neighbour begins while it runs itself.
struct neighbours {
  std::atomic<bool> begun{false};
  bool beside = false;
};
task<> looks_beside(neighbours& both) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!both.begun && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  both.beside = both.begun;
  co_return;
}
task<> begins(neighbours& both) {
  both.begun = true;
  co_return;
}

// Nobody steals from a slot. There is none to rescue what is in it here.
TEST(join_in_place_beside_another, what_would_have_been_next_is_for_others) {
  for (const auto order : {skua::order::fifo, skua::order::lifo}) {
    skua::config how;
    how.workers = 2;
    how.order = order;
    how.rescue = false;
    auto rt = std::move(*skua::runtime::start(how));
    int beside = 0;
    const auto script = [&]() -> task<> {
      for (int i = 0; i < 20; ++i) {
        neighbours both;
        auto one = spawn(looks_beside(both));
        auto other = spawn(begins(both));  // takes the slot
        co_await std::move(one);
        co_await std::move(other);
        if (both.beside) ++beside;
      }
    };
    rt.block_on(script);
    EXPECT_GE(beside, 10);
  }
}

struct crowd {
  static constexpr int size = 200;
  std::atomic<int> begun{0};
  int begun_before = 0;  // the one that was woken
};
task<> is_one_of(crowd& many) {
  ++many.begun;
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  while (std::chrono::steady_clock::now() < end) {
  }
  co_return;
}
task<> waits_behind(crowd& many, skua::event& woken) {
  co_await woken.wait();
  many.begun_before = many.begun;
}

TEST(join_in_place_beside_another, what_would_have_been_next_is_so_again) {
  skua::config how;
  how.workers = 2;
  auto rt = std::move(*skua::runtime::start(how));
  std::vector<int> before;
  const auto script = [&]() -> task<> {
    for (int i = 0; i < 15; ++i) {
      crowd many;
      skua::event wake;
      auto woken = spawn(waits_behind(many, wake));
      co_await skua::sleep(std::chrono::milliseconds(1));  // it waits, and the other worker sleeps
      std::vector<join_handle<void>> all;
      for (int k = 0; k < crowd::size; ++k) all.push_back(spawn(is_one_of(many)));
      auto child = spawn(give(1));
      wake.set();  // it takes the slot, and the child is the last in line
      co_await std::move(child);
      co_await std::move(woken);
      before.push_back(many.begun_before);
      for (auto& one : all) co_await std::move(one);
    }
  };
  rt.block_on(script);
  std::ranges::sort(before);
  EXPECT_LT(before[before.size() / 2], crowd::size / 4) << "it had to wait behind the others";
}

/// Cannot be moved once: as many moves from now as `fails` says, if that is not 0.
struct heavy {
  explicit heavy(int& failures) : fails(&failures) {}
  heavy(heavy&& from) : fails(from.fails) {
    if (*fails == 0) return;
    --*fails;
    if (*fails == 0) throw std::runtime_error("too heavy");
  }
  heavy& operator=(heavy&&) = delete;
  ~heavy() = default;
  int* fails;
};

TEST_P(join_in_place_anywhere, what_could_not_be_moved_out_can_be_awaited_again) {
  auto rt = start();
  for (int move = 1; move <= 8; ++move) {
    int fails = 0;
    const auto makes = [&]() -> task<heavy> { co_return heavy(fails); };
    const auto script = [&]() -> task<int> {
      auto child = spawn(makes);
      auto wait = child.outcome();
      fails = move;
      int failed = 0;
      for (int time = 0; time < 2; ++time) {
        try {
          const auto got = co_await wait;
          fails = 0;
          co_return failed + (got.has_value() ? 10 : 20);
        } catch (const std::runtime_error&) {
          ++failed;
        }
      }
      co_return 30;
    };
    EXPECT_LE(rt.block_on(script), 21) << "move " << move;
  }
}

TEST_P(join_in_place_anywhere, exceptions_and_stops_come_through) {
  auto rt = start();
  const auto throws = []() -> task<> {
    throw std::runtime_error("no");
    co_return;
  };
  const auto sleeps = []() -> task<> { co_await skua::sleep(std::chrono::hours(1)); };
  const auto script = [&]() -> task<> {
    EXPECT_THROW(co_await spawn(throws), std::runtime_error);
    auto stopped = spawn(sleeps);
    stopped.abort();
    EXPECT_TRUE((co_await stopped.outcome()).stopped());
  };
  rt.block_on(script);
}

/// Each awaits the next, which it has just spawned.
task<std::uint64_t> chain(std::uint64_t left) {
  if (left == 0) co_return 0U;
  co_return 1 + co_await spawn(chain(left - 1));
}

TEST_P(join_in_place_anywhere, a_chain_of_any_length_fits_on_the_stack) {
  skua::config settings = skua_test::settings_of(GetParam(), log);
  settings.budget = 1'000'000;  // turns do not end it
  auto rt = skua_test::started(settings);
  EXPECT_EQ(rt.block_on(chain(100'000)), 100'000U);
}

[[gnu::noinline]] void fill(std::span<char> what) {
  std::ranges::fill(what, 'x');
  asm("" : : "r"(what.data()) : "memory");
}

/// The same, with much on the stack that no longer matters when it awaits.
task<std::uint64_t> heavy_chain(std::uint64_t left) {
  {
    std::array<char, 131'072> scratch;
    fill(scratch);
  }
  if (left == 0) co_return 0U;
  co_return 1 + co_await spawn(heavy_chain(left - 1));
}

TEST_P(join_in_place_anywhere, what_tasks_leave_on_the_stack_does_not_add_up) {
  auto rt = start();
  EXPECT_EQ(rt.block_on(heavy_chain(200)), 200U);
}

task<std::uint64_t> tree(unsigned depth) {
  if (depth == 0) co_return 1U;
  auto one = spawn(tree(depth - 1));
  auto other = spawn(tree(depth - 1));
  const std::uint64_t first = co_await std::move(one);
  co_return first + co_await std::move(other);
}

TEST_P(join_in_place_anywhere, a_tree_adds_up) {
  auto rt = start();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(rt.block_on(tree(12)), 4'096U);
}

/// The worker may be lent away beneath the one that awaits.
class join_in_place_blocked : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(steals, join_in_place_blocked, skua_test::kinds_that_steal(),
                         skua_test::name_of_kind);

TEST_P(join_in_place_blocked, a_child_may_block_in_place) {
  auto rt = start();
  const auto script = []() -> task<int> {
    int sum = 0;
    for (int round = 0; round < 20; ++round) {
      std::atomic<bool> other_ran = false;
      const auto other = [&]() -> task<> {
        other_ran = true;
        other_ran.notify_all();
        co_return;
      };
      const auto blocks = [&]() -> task<int> {
        skua::block_in_place([&] { other_ran.wait(false); });
        co_return 1;
      };
      auto beside = spawn(other);
      sum += co_await spawn(blocks);
      co_await skua::consume_budget();  // gives way, if it is on a thread that is no worker now
      EXPECT_TRUE(skua::this_worker().has_value());
      sum += co_await spawn(give(1));
      co_await std::move(beside);
    }
    co_return sum;
  };
  EXPECT_EQ(rt.block_on(script), 40);
}

}  // namespace
