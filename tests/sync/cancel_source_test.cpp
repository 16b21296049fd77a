// tests/sync/cancel_source_test.cpp: who is cancelled takes its children along, and nobody else.
#include "skua/sync/cancel_source.hpp"

#include "skua/base/random.hpp"
#include "skua/skua.hpp"
#include "skua/sync/cancel_stop_token.hpp"
#include "support/budget.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::cancel_source;
using skua::cancel_token;
using skua::spawn;
using skua::task;

TEST(cancel_source, is_cancelled_once_for_all_its_tokens) {
  cancel_source source;
  const cancel_token token = source.token();
  const cancel_token copy = token;
  EXPECT_FALSE(source.is_cancelled());
  EXPECT_FALSE(token.is_cancelled());
  EXPECT_TRUE(source.cancel());
  EXPECT_FALSE(source.cancel()) << "only the first does it";
  EXPECT_TRUE(source.is_cancelled());
  EXPECT_TRUE(token.is_cancelled());
  EXPECT_TRUE(copy.is_cancelled());
  EXPECT_TRUE(source.token().is_cancelled());
}

TEST(cancel_source, may_be_copied_and_moved) {
  cancel_source source;
  cancel_source copy = source;
  cancel_source moved = std::move(source);
  EXPECT_EQ(copy.token(), moved.token());
  EXPECT_NE(copy.token(), cancel_source().token());
  copy = cancel_source();
  EXPECT_TRUE(copy.cancel());
  EXPECT_FALSE(moved.is_cancelled());
}

TEST(cancel_source_death, that_was_moved_from_says_so) {
  cancel_source source;
  const cancel_source moved = std::move(source);
  EXPECT_DEATH(source.cancel(), "moved from");  // NOLINT(bugprone-use-after-move): that is it
}

TEST(cancel_source, that_is_gone_has_cancelled_nothing) {
  cancel_token token;
  {
    const cancel_source source;
    token = source.token();
  }
  EXPECT_FALSE(token.is_cancelled());
}

TEST(cancel_source, takes_its_children_along) {
  cancel_source parent;
  const cancel_source one = parent.child();
  const cancel_source other = parent.child();
  const cancel_source grandchild = one.child();
  EXPECT_TRUE(one.cancel());
  EXPECT_TRUE(grandchild.is_cancelled());
  EXPECT_FALSE(other.is_cancelled());
  EXPECT_FALSE(parent.is_cancelled());
  EXPECT_TRUE(parent.cancel());
  EXPECT_TRUE(other.is_cancelled());
  EXPECT_FALSE(one.cancel()) << "it was already";
}

TEST(cancel_source, has_children_that_are_born_cancelled) {
  const cancel_source parent;
  parent.cancel();
  EXPECT_TRUE(parent.child().is_cancelled());
  EXPECT_TRUE(cancel_source(parent.token()).child().is_cancelled());
  EXPECT_FALSE(cancel_source(cancel_token()).is_cancelled());
}

TEST(cancel_source, reaches_those_whose_parents_are_gone) {
  cancel_source root;
  cancel_token last;
  {
    const cancel_source middle = root.child();
    const cancel_source leaf = middle.child();
    last = leaf.token();
  }
  root.cancel();
  EXPECT_TRUE(last.is_cancelled());
}

// Neither a cancellation nor the end needs a stack as deep as the chain.
TEST(cancel_source, may_have_a_long_line_of_descendants) {
  cancel_source root;
  cancel_source last = root;
  for (int i = 0; i < 100'000; ++i) last = last.child();
  root.cancel();
  EXPECT_TRUE(last.is_cancelled());
}

TEST(cancel_source, may_have_many_children_that_come_and_go) {
  cancel_source root;
  std::vector<cancel_source> some;
  for (int i = 0; i < 100'000; ++i) {
    cancel_source child = root.child();
    if (i % 1'000 == 0) some.push_back(child);
  }
  root.cancel();
  for (const cancel_source& one : some) EXPECT_TRUE(one.is_cancelled());
}

/// Children are made, waited for, cancelled and dropped while others cancel their parents.
task<> use_a_child(cancel_token parent, std::uint64_t seed, std::atomic<int>& told) {
  skua::random_generator random(seed);
  const cancel_source mine(parent);
  const cancel_source below = mine.child();
  switch (random.below(4)) {
    case 0:
      mine.cancel();
      EXPECT_TRUE(below.is_cancelled());
      break;
    case 1:
      static_cast<void>(co_await below.token().guard(skua::yield()));
      break;
    case 2: {
      const std::stop_token stop = skua::cancel_stop_token::of(below.token());
      co_await below.token().wait();
      EXPECT_TRUE(below.is_cancelled());
      break;
    }
    default:
      co_await below.token().wait();
      EXPECT_TRUE(below.is_cancelled());
  }
  ++told;
}

task<> stress_cancel(std::uint64_t seed) {
  skua::random_generator random(seed);
  const skua_test::budget time(0.5);
  while (time.left()) {
    std::atomic<int> told = 0;
    std::vector<skua::join_handle<void>> all;
    std::optional<cancel_source> root(std::in_place);
    for (int i = 0; i < 50; ++i)
      all.push_back(spawn(use_a_child(root->token(), random.next(), told)));
    for (std::uint64_t i = random.below(3); i > 0; --i) co_await skua::yield();
    int stopped = 0;
    if (random.below(2) == 0) all[random.below(all.size())].abort();
    root->cancel();
    root.reset();
    for (auto& one : all)
      if ((co_await one.outcome()).stopped()) ++stopped;
    EXPECT_EQ(told + stopped, 50);
  }
}

TEST(cancel_source_stress, everybody_is_told) {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (const std::size_t workers : {2U, 8U}) {
    skua::config settings;
    settings.workers = workers;
    auto rt = skua_test::started(settings);
    rt.block_on(stress_cancel(seed));
  }
}

// Between a look at the flag and the place in line there is a moment.
TEST(cancel_source_stress, a_wait_that_begins_while_it_is_cancelled_ends) {
  const skua_test::budget time(0.5);
  std::atomic<const cancel_source*> next = nullptr;
  std::atomic<bool> over = false;
  std::thread cancels([&] {
    skua::random_generator random(1);
    while (!over) {
      const cancel_source* const given = next.exchange(nullptr);
      if (given == nullptr) continue;
      const cancel_source which = *given;  // the other thread drops its own when it sees the flag
      for (std::uint64_t i = random.below(500); i > 0 && !over; --i) {
      }
      which.cancel();
    }
  });
  auto waits = [](cancel_token token) -> task<> { co_await token.wait(); };
  while (time.left()) {
    const cancel_source source;
    task<> waiting = waits(source.token());
    next = &source;
    skua::sync_wait(std::move(waiting));
    while (!source.is_cancelled() || next != nullptr) std::this_thread::yield();
  }
  over = true;
  cancels.join();
}

TEST(cancel_source_stress, trees_grow_and_shrink_while_they_are_cancelled) {
  const skua_test::budget time(0.5);
  while (time.left()) {
    cancel_source root;
    std::atomic<bool> begin = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&begin, root] {
        while (!begin) std::this_thread::yield();
        for (int k = 0; k < 100; ++k) {
          const cancel_source child = root.child();
          const cancel_source below = child.child();
          const std::stop_token told = skua::cancel_stop_token::of(below.token());
          if (k % 3 == 0) child.cancel();
          if (child.is_cancelled()) {
            EXPECT_TRUE(below.child().is_cancelled());
          }
        }
      });
    begin = true;
    root.cancel();
    for (std::thread& one : threads) one.join();
    EXPECT_TRUE(root.child().is_cancelled());
  }
}

}  // namespace
