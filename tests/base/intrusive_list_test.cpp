// tests/base/intrusive_list_test.cpp: elements keep their order and know whether they are linked.
#include "skua/base/intrusive_list.hpp"

#include "skua/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace {

using skua::intrusive_list;
using skua::list_link;

struct item : list_link<> {
  explicit item(int n) : number(n) {}
  int number;
};
using item_list = intrusive_list<item>;

std::vector<int> numbers(item_list& list) {
  std::vector<int> all;
  for (const item& each : list) all.push_back(each.number);
  return all;
}

void drain(item_list& list) {
  while (list.pop_front() != nullptr) {
  }
}

TEST(intrusive_list, starts_empty) {
  item_list list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  EXPECT_EQ(list.pop_front(), nullptr);
  EXPECT_EQ(list.begin(), list.end());
}

TEST(intrusive_list, keeps_the_order_of_pushes_at_either_end) {
  item one(1), two(2), three(3);
  item_list list;
  list.push_back(two);
  list.push_back(three);
  list.push_front(one);
  EXPECT_EQ(numbers(list), (std::vector{1, 2, 3}));
  EXPECT_EQ(list.front(), &one);
  EXPECT_EQ(list.pop_front(), &one);
  EXPECT_EQ(list.pop_front(), &two);
  EXPECT_EQ(list.pop_front(), &three);
  EXPECT_TRUE(list.empty());
}

TEST(intrusive_list, removes_first_middle_and_last) {
  item one(1), two(2), three(3), four(4);
  item_list list;
  for (item* each : {&one, &two, &three, &four}) list.push_back(*each);
  item_list::remove(two);
  EXPECT_EQ(numbers(list), (std::vector{1, 3, 4}));
  list.remove(one);
  EXPECT_EQ(numbers(list), (std::vector{3, 4}));
  list.remove(four);
  EXPECT_EQ(numbers(list), (std::vector{3}));
  list.remove(three);
  EXPECT_TRUE(list.empty());
}

TEST(intrusive_list, can_be_fetched_at_any_length) {
  std::deque<item> items;
  item_list list;
  std::vector<int> expected;
  for (int n = 0; n < 7; ++n) {
    list.fetch();  // comes to an end
    EXPECT_EQ(numbers(list), expected);
    list.push_back(items.emplace_back(n));
    expected.push_back(n);
  }
  drain(list);
}

TEST(list_link, knows_whether_it_is_linked) {
  item only(1);
  item_list list;
  EXPECT_FALSE(only.is_linked());
  list.push_back(only);
  EXPECT_TRUE(only.is_linked());
  list.remove(only);
  EXPECT_FALSE(only.is_linked());
  list.push_front(only);
  EXPECT_TRUE(only.is_linked());
  EXPECT_EQ(list.pop_front(), &only);
  EXPECT_FALSE(only.is_linked());
}

TEST(intrusive_list, append_moves_everything_behind_the_last) {
  item one(1), two(2), three(3), four(4);
  item_list list, other;
  list.append(other);
  EXPECT_TRUE(list.empty());
  other.push_back(one);
  list.append(other);  // into an empty list
  list.push_back(two);
  other.push_back(three);
  other.push_back(four);
  list.append(other);
  EXPECT_TRUE(other.empty());
  EXPECT_EQ(numbers(list), (std::vector{1, 2, 3, 4}));
  list.remove(four);
  list.remove(three);
  other.push_back(three);
  EXPECT_EQ(numbers(list), (std::vector{1, 2}));
  EXPECT_EQ(numbers(other), (std::vector{3}));
  drain(list);
  drain(other);
}

TEST(intrusive_list, moves_into_a_new_list) {
  item one(1), two(2);
  item_list list;
  list.push_back(one);
  list.push_back(two);
  item_list taken(std::move(list));
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(numbers(taken), (std::vector{1, 2}));
  drain(taken);
}

TEST(intrusive_list, lets_a_loop_remove_and_destroy_the_current_element) {
  std::vector<std::unique_ptr<item>> owned;
  item_list list;
  for (int n = 0; n < 6; ++n) list.push_back(*owned.emplace_back(std::make_unique<item>(n)));
  for (item& each : list) {
    const int n = each.number;
    if (n % 2 != 0) continue;
    list.remove(each);
    owned[static_cast<std::size_t>(n)].reset();
  }
  EXPECT_EQ(numbers(list), (std::vector{1, 3, 5}));
  drain(list);
}

struct by_age;
struct by_name;
struct person : list_link<by_age>, list_link<by_name> {};

TEST(intrusive_list, holds_an_object_once_for_each_of_its_tags) {
  person ada, bob;
  intrusive_list<person, by_age> ages;
  intrusive_list<person, by_name> names;
  ages.push_back(bob);
  ages.push_back(ada);
  names.push_back(ada);
  EXPECT_EQ(ages.pop_front(), &bob);
  EXPECT_EQ(names.front(), &ada);
  EXPECT_FALSE(bob.list_link<by_name>::is_linked());
  EXPECT_TRUE(ada.list_link<by_age>::is_linked());
  ages.remove(ada);
  EXPECT_TRUE(ada.list_link<by_name>::is_linked());
  names.remove(ada);
}

TEST(intrusive_list, agrees_with_a_deque_after_any_sequence_of_calls) {
  constexpr int count = 16;
  std::vector<std::unique_ptr<item>> items;
  for (int n = 0; n < count; ++n) items.push_back(std::make_unique<item>(n));
  std::array<item_list, 2> lists;
  std::array<std::deque<int>, 2> models;
  skua::random_generator random(1);
  for (int round = 0; round < 20'000; ++round) {
    item& any = *items[random.below(count)];
    const std::size_t side = random.below(2);
    item_list& list = lists[side];
    std::deque<int>& model = models[side];
    if (random.below(50) == 0) {
      list.append(lists[1 - side]);
      model.insert(model.end(), models[1 - side].begin(), models[1 - side].end());
      models[1 - side].clear();
    } else if (any.is_linked()) {
      item_list::remove(any);
      for (auto& each : models) std::erase(each, any.number);
    } else if (random.below(2) == 0) {
      list.push_back(any);
      model.push_back(any.number);
    } else {
      list.push_front(any);
      model.push_front(any.number);
    }
    for (std::size_t n : {0U, 1U}) {
      ASSERT_TRUE(std::ranges::equal(numbers(lists[n]), models[n])) << "round " << round;
    }
  }
  for (auto& each : lists) drain(each);
}

TEST(intrusive_list, refuses_an_element_that_is_linked) {
  item only(1);
  item_list list;
  list.push_back(only);
  EXPECT_DEATH(list.push_back(only), "an element enters a list unlinked");
  EXPECT_DEATH(list.push_front(only), "an element enters a list unlinked");
  list.remove(only);
}

TEST(intrusive_list, refuses_to_remove_an_element_that_is_not_linked) {
  item loose(1);
  EXPECT_DEATH(item_list::remove(loose), "only a linked element is removed");
}

TEST(intrusive_list, refuses_to_append_itself) {
  item_list list;
  EXPECT_DEATH(list.append(list), "a list is appended to another list");
}

TEST(intrusive_list, dies_empty) {
  item only(1);
  EXPECT_DEATH(
      {
        item_list list;
        list.push_back(only);
      },
      "a list dies empty");
}

TEST(list_link, dies_unlinked) {
  item_list list;
  EXPECT_DEATH(
      {
        item only(1);
        list.push_back(only);
      },
      "an element leaves its list before it dies");
}

}  // namespace
