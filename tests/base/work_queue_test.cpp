// tests/base/work_queue_test.cpp: work leaves in the order it entered, unlinked, none lost.
#include "skua/base/work_queue.hpp"

#include "skua/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <utility>

namespace {

using skua::work;
using skua::work_queue;

struct item : work {
  item() : work([](work&) noexcept {}) {}
};

void drain(work_queue& queue) {
  while (queue.pop_front() != nullptr) {
  }
}

TEST(work_queue, starts_empty) {
  work_queue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.pop_front(), nullptr);
}

TEST(work_queue, gives_the_oldest_first_and_unlinked) {
  std::array<item, 3> items;
  work_queue queue;
  for (item& each : items) queue.push_back(each);
  EXPECT_EQ(queue.size(), 3U);
  for (item& each : items) {
    EXPECT_EQ(queue.pop_front(), &each);
    EXPECT_EQ(each.next, nullptr);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.size(), 0U);
}

TEST(work_queue, gives_what_was_pushed_to_the_front_before_the_rest) {
  item first, second, third;
  work_queue queue;
  queue.push_front(second);
  queue.push_front(first);
  queue.push_back(third);
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.pop_front(), &first);
  EXPECT_EQ(queue.pop_front(), &second);
  EXPECT_EQ(queue.pop_front(), &third);
}

TEST(work_queue, takes_items_again_after_it_ran_empty) {
  item one, two;
  work_queue queue;
  for (int round = 0; round < 3; ++round) {
    queue.push_back(one);
    queue.push_back(two);
    EXPECT_EQ(queue.pop_front(), &one);
    EXPECT_EQ(queue.pop_front(), &two);
  }
}

TEST(work_queue, append_moves_everything_behind_the_last) {
  std::array<item, 4> items;
  work_queue queue, other;
  queue.append(other);
  EXPECT_TRUE(queue.empty());
  other.push_back(items[0]);
  other.push_back(items[1]);
  queue.append(other);  // into an empty queue
  EXPECT_TRUE(other.empty());
  EXPECT_EQ(other.size(), 0U);
  other.push_back(items[2]);
  queue.append(other);
  queue.push_back(items[3]);
  EXPECT_EQ(queue.size(), 4U);
  for (item& each : items) EXPECT_EQ(queue.pop_front(), &each);
}

TEST(work_queue, moves_into_a_new_queue) {
  item one, two;
  work_queue queue;
  queue.push_back(one);
  work_queue taken(std::move(queue));
  EXPECT_TRUE(queue.empty());
  queue.push_back(two);
  EXPECT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken.pop_front(), &one);
  EXPECT_EQ(queue.pop_front(), &two);
}

TEST(work_queue, agrees_with_a_deque_after_any_sequence_of_calls) {
  constexpr std::size_t count = 12;
  std::array<item, count> items;
  std::deque<work*> outside;
  for (item& each : items) outside.push_back(&each);
  std::array<work_queue, 2> queues;
  std::array<std::deque<work*>, 2> models;
  skua::random_generator random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t side = random.below(2);
    work_queue& queue = queues[side];
    std::deque<work*>& model = models[side];
    const std::uint64_t action = random.below(16);
    if (action == 0) {
      queue.append(queues[1 - side]);
      model.insert(model.end(), models[1 - side].begin(), models[1 - side].end());
      models[1 - side].clear();
    } else if (action < 8 && !outside.empty()) {
      work* const entering = outside.front();
      outside.pop_front();
      if (action % 2 == 0) {
        queue.push_back(*entering);
        model.push_back(entering);
      } else {
        queue.push_front(*entering);
        model.push_front(entering);
      }
    } else {
      work* const leaving = queue.pop_front();
      ASSERT_EQ(leaving, model.empty() ? nullptr : model.front()) << "round " << round;
      if (leaving != nullptr) {
        model.pop_front();
        outside.push_back(leaving);
      }
    }
    ASSERT_EQ(queue.size(), model.size()) << "round " << round;
    ASSERT_EQ(queue.empty(), model.empty()) << "round " << round;
  }
  for (work_queue& each : queues) drain(each);
}

TEST(work_queue, refuses_an_item_with_another_behind_it) {
  item one, two;
  work_queue queue, other;
  other.push_back(one);
  other.push_back(two);
  EXPECT_DEATH(queue.push_back(one), "an item enters a work queue unlinked");
  EXPECT_DEATH(queue.push_front(one), "an item enters a work queue unlinked");
  drain(other);
}

TEST(work_queue, refuses_its_own_last_item) {
  item only;
  work_queue queue;
  queue.push_back(only);
  EXPECT_DEATH(queue.push_back(only), "an item enters a work queue unlinked");
  EXPECT_DEATH(queue.push_front(only), "an item enters a work queue unlinked");
  drain(queue);
}

TEST(work_queue, refuses_to_append_itself) {
  work_queue queue;
  EXPECT_DEATH(queue.append(queue), "appended to another one");
}

TEST(work_queue, dies_empty) {
  item only;
  EXPECT_DEATH(
      {
        work_queue queue;
        queue.push_back(only);
      },
      "a work queue dies empty");
}

}  // namespace
