// tests/sched/inject_queue_test.cpp: order, batches and closing of the shared queue.
#include "sched/inject_queue.hpp"

#include "skua/base/atomics.hpp"
#include "support/memory_limit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace {

using skua::work;
using queue = skua::inject_queue<skua::std_atomics>;

void run_nothing(work&) noexcept {}

TEST(inject_queue, gives_the_oldest_first_one_by_one_or_in_batches) {
  queue shared;
  work a(run_nothing);
  work b(run_nothing);
  work c(run_nothing);
  EXPECT_TRUE(shared.push(a));
  EXPECT_TRUE(shared.push(b));
  EXPECT_TRUE(shared.push(c));
  EXPECT_EQ(shared.size(), 3U);
  EXPECT_EQ(shared.pop(), &a);
  std::array<work*, 8> rest{};
  EXPECT_EQ(shared.pop_batch(rest), 2U);
  EXPECT_EQ(rest[0], &b);
  EXPECT_EQ(rest[1], &c);
  EXPECT_EQ(shared.pop(), nullptr);
  EXPECT_EQ(shared.pop_batch(rest), 0U);
}

TEST(inject_queue, keeps_the_order_of_blocks_and_single_items) {
  queue shared;
  std::vector<std::unique_ptr<work>> items;
  for (int i = 0; i < 7; ++i) items.push_back(std::make_unique<work>(run_nothing));
  EXPECT_TRUE(shared.push(*items[0]));
  for (const std::size_t from : {1U, 3U}) {
    skua::work_block* const block = shared.take_block();
    ASSERT_NE(block, nullptr);
    block->push_back(*items[from]);
    block->push_back(*items[from + 1]);
    shared.push_block(*block);
  }
  EXPECT_TRUE(shared.push(*items[5]));
  EXPECT_TRUE(shared.push(*items[6]));
  EXPECT_EQ(shared.size(), 7U);
  EXPECT_EQ(shared.pop(), items[0].get());
  EXPECT_EQ(shared.pop(), items[1].get()) << "a part of a block";
  EXPECT_EQ(shared.size(), 5U);
  std::array<work*, 4> some{};
  EXPECT_EQ(shared.pop_batch(some), 4U) << "what is left of it, another, and one";
  for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], items[2 + i].get()) << i;
  EXPECT_EQ(shared.pop(), items[6].get());
  EXPECT_EQ(shared.pop(), nullptr);
  EXPECT_EQ(shared.size(), 0U);
}

TEST(inject_queue, keeps_the_order_of_many_that_come_one_by_one) {
  constexpr std::size_t many = 1'000;
  std::vector<std::unique_ptr<work>> items;
  for (std::size_t i = 0; i < many; ++i) items.push_back(std::make_unique<work>(run_nothing));
  queue shared;
  std::size_t pushed = 0;
  std::size_t taken = 0;
  std::vector<work*> room(300);
  const auto take = [&](std::size_t most) {
    const std::size_t count = shared.pop_batch(std::span(room).first(most));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(room[i], items[taken++].get());
    EXPECT_EQ(shared.size(), pushed - taken);
  };
  for (const std::size_t more : {7U, 3U, 200U, 1U, 400U, 20U, 300U}) {
    for (std::size_t i = 0; i < more && pushed < many; ++i)
      EXPECT_TRUE(shared.push(*items[pushed++]));
    skua::work_queue batch;  // others come between
    if (pushed < many) batch.push_back(*items[pushed++]);
    shared.push_batch(batch);
    take(more / 3);
  }
  while (shared.size() > 0) take(300);
  EXPECT_EQ(taken, pushed);
}

TEST(inject_queue, without_memory_for_its_first_block_takes_many_all_the_same) {
  constexpr std::size_t many = 100;
  std::array<std::unique_ptr<work>, many> items;
  for (auto& one : items) one = std::make_unique<work>(run_nothing);
  queue shared;
  bool accepted = true;
  {
    const skua_test::memory_limit none(1);
    for (auto& one : items) accepted &= shared.push(*one);
  }
  EXPECT_TRUE(accepted);
  for (auto& one : items) EXPECT_EQ(shared.pop(), one.get());
}

TEST(inject_queue, uses_a_block_again) {
  queue shared;
  work one(run_nothing), other(run_nothing);
  skua::work_block* const block = shared.take_block();
  ASSERT_NE(block, nullptr);
  shared.push_block(*block);
  EXPECT_EQ(shared.size(), 0U);
  EXPECT_EQ(shared.take_block(), block) << "it came back empty";
  block->push_back(one);
  block->push_back(other);
  shared.push_block(*block);
  EXPECT_EQ(shared.pop(), &one);
  EXPECT_EQ(shared.pop(), &other);
  EXPECT_EQ(shared.take_block(), block) << "it was emptied";
  shared.push_block(*block);
}

TEST(inject_queue, keeps_no_block_for_one_item_alone) {
  queue shared;
  work one(run_nothing), other(run_nothing);
  skua::work_block* const block = shared.take_block();
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(shared.push(other));
  block->push_back(one);
  shared.push_block(*block);
  EXPECT_EQ(shared.size(), 2U);
  EXPECT_EQ(shared.take_block(), block) << "it can be used again while the item waits";
  EXPECT_EQ(shared.pop(), &other);
  EXPECT_EQ(shared.pop(), &one);
  EXPECT_EQ(shared.pop(), nullptr);
  shared.push_block(*block);
}

TEST(inject_queue, frees_blocks_that_are_too_many) {
  queue shared;
  std::vector<skua::work_block*> all;
  for (int i = 0; i < 100; ++i) all.push_back(shared.take_block());
  for (skua::work_block* const one : all) shared.push_block(*one);  // a leak would be reported
  EXPECT_EQ(shared.size(), 0U);
}

TEST(inject_queue, without_memory_has_no_block) {
  queue shared;
  skua::work_block* block = nullptr;
  {
    const skua_test::memory_limit none(1);
    block = shared.take_block();
  }
  EXPECT_EQ(block, nullptr);
}

TEST(inject_queue, closed_refuses_what_is_new_and_keeps_what_it_has) {
  queue shared;
  work in(run_nothing);
  work late(run_nothing);
  work overflowed(run_nothing);
  EXPECT_TRUE(shared.push(in));
  EXPECT_TRUE(shared.close());
  EXPECT_FALSE(shared.close());
  EXPECT_FALSE(shared.push(late));
  skua::work_queue batch;
  batch.push_back(overflowed);
  shared.push_batch(batch);
  EXPECT_EQ(shared.pop(), &in);
  EXPECT_EQ(shared.pop(), &overflowed);
  EXPECT_EQ(shared.pop(), nullptr);
}

}  // namespace
