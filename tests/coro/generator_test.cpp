// tests/coro/generator_test.cpp: values come one by one, when asked for, and end cleanly.
#include "skua/coro/generator.hpp"
#include "support/noted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <concepts>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using skua::generator;
using skua_test::noted;
using testing::ElementsAre;

static_assert(std::ranges::input_range<generator<int>>);
static_assert(std::ranges::input_range<generator<int&>>);
static_assert(std::ranges::input_range<generator<const std::string&>>);
static_assert(std::ranges::input_range<generator<std::unique_ptr<int>>>);
static_assert(!std::ranges::forward_range<generator<int>>);
static_assert(std::same_as<std::ranges::range_reference_t<generator<int>>, int&&>);
static_assert(std::same_as<std::ranges::range_reference_t<generator<int&>>, int&>);
static_assert(std::same_as<std::ranges::range_value_t<generator<const int&>>, int>);
static_assert(std::movable<generator<int>> && !std::is_copy_constructible_v<generator<int>>);

generator<int> count_to(int last) {
  for (int i = 1; i <= last; ++i) co_yield i;
}
generator<int> nothing() {
  co_return;
}
generator<int> noting(std::string& log) {
  const noted first(log, "first ");
  log += "one ";
  co_yield 1;
  const noted second(log, "second ");
  log += "two ";
  co_yield 2;
  log += "end ";
}

template <typename T>
std::vector<T> all_of(generator<T> from) {
  std::vector<T> all;
  for (T&& one : from) all.push_back(std::move(one));
  return all;
}

TEST(generator, gives_what_is_yielded_in_order) {
  EXPECT_THAT(all_of(count_to(4)), ElementsAre(1, 2, 3, 4));
}

TEST(generator, that_yields_nothing_is_empty) {
  auto none = nothing();
  EXPECT_TRUE(none.begin() == none.end());
}

TEST(generator, runs_only_as_far_as_it_is_asked) {
  std::string log;
  auto lazy = noting(log);
  EXPECT_EQ(log, "");
  auto at = lazy.begin();
  EXPECT_EQ(log, "one ");
  EXPECT_EQ(*at, 1);
  EXPECT_EQ(*at, 1);
  EXPECT_EQ(log, "one ");
  ++at;
  EXPECT_EQ(log, "one two ");
  EXPECT_EQ(*at, 2);
  at++;
  EXPECT_EQ(log, "one two end second first ");
  EXPECT_TRUE(at == lazy.end());
}

TEST(generator, destroys_its_locals_once_when_dropped_midway) {
  std::string log;
  {
    auto dropped = noting(log);
    auto at = dropped.begin();
    ++at;
  }
  EXPECT_EQ(log, "one two second first ");
}

TEST(generator, destroys_its_arguments_when_dropped_before_its_start) {
  auto owned = std::make_shared<int>(1);
  {
    auto dropped = [](std::shared_ptr<int> held) -> generator<int> { co_yield *held; }(owned);
    EXPECT_EQ(owned.use_count(), 2);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(generator, gives_references_to_the_very_objects) {
  std::vector<int> numbers{1, 2, 3};
  auto each = [](std::vector<int>& of) -> generator<int&> {
    for (int& one : of) co_yield one;
  };
  for (int& one : each(numbers)) one *= 10;
  EXPECT_THAT(numbers, ElementsAre(10, 20, 30));

  auto one_const = [](const std::string& of) -> generator<const std::string&> { co_yield of; };
  const std::string text = "the very text";
  for (const std::string& one : one_const(text)) EXPECT_EQ(&one, &text);
}

TEST(generator, lets_values_be_moved_out_that_can_only_be_moved) {
  auto boxes = []() -> generator<std::unique_ptr<int>> {
    co_yield std::make_unique<int>(1);
    auto kept = std::make_unique<int>(2);
    co_yield std::move(kept);
    if (kept == nullptr) co_yield std::make_unique<int>(3);
  };
  std::vector<int> seen;
  for (auto&& box : boxes()) seen.push_back(*std::unique_ptr<int>(std::move(box)));
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

/// Counts how often it was copied and moved.
class counted {
public:
  counted(int& copies, int& moves) : copies_(copies), moves_(moves) {}
  counted(const counted& from) : copies_(from.copies_), moves_(from.moves_) { ++copies_; }
  counted(counted&& from) noexcept : copies_(from.copies_), moves_(from.moves_) { ++moves_; }
  counted& operator=(const counted&) = delete;
  ~counted() = default;

private:
  int& copies_;
  int& moves_;
};

TEST(generator, neither_copies_nor_moves_a_yielded_temporary) {
  int copies = 0;
  int moves = 0;
  auto temporary = [&]() -> generator<counted> { co_yield counted(copies, moves); };
  int seen = 0;
  for ([[maybe_unused]] counted&& one : temporary()) ++seen;
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(copies, 0);
  EXPECT_EQ(moves, 0);
}

TEST(generator, copies_a_yielded_variable_once_so_that_it_cannot_be_moved_from) {
  int copies = 0;
  int moves = 0;
  auto variable = [&]() -> generator<counted> {
    counted own(copies, moves);
    co_yield own;
  };
  for ([[maybe_unused]] counted&& one : variable()) EXPECT_EQ(copies, 1);
  EXPECT_EQ(moves, 0);

  std::string left_over;
  auto text = [&]() -> generator<std::string> {
    std::string own = "a text too long to be stored within the string object";
    co_yield own;
    left_over = own;
  };
  for (std::string&& one : text()) {
    const std::string taken = std::move(one);
    EXPECT_EQ(taken.size(), 53U);
  }
  EXPECT_EQ(left_over.size(), 53U);
}

TEST(generator, converts_what_is_yielded) {
  auto texts = [](std::string_view view) -> generator<std::string> {
    co_yield "literal";
    co_yield std::string(view);
  };
  EXPECT_THAT(all_of(texts("view")), ElementsAre("literal", "view"));
}

TEST(generator, lets_an_exception_leave_begin_and_has_ended_then) {
  std::string log;
  auto fails = [&]() -> generator<int> {
    const noted local(log, "unwound ");
    if (!log.empty()) co_yield 1;
    throw std::runtime_error("at once");
  };
  {
    auto failed = fails();
    EXPECT_THROW(failed.begin(), std::runtime_error);
    EXPECT_EQ(log, "unwound ");
  }
  EXPECT_EQ(log, "unwound ");
}

TEST(generator, lets_an_exception_leave_the_increment_and_has_ended_then) {
  std::string log;
  auto fails = [&]() -> generator<int> {
    const noted local(log, "unwound ");
    co_yield 1;
    throw std::runtime_error("later");
  };
  {
    auto failed = fails();
    auto at = failed.begin();
    EXPECT_THROW(++at, std::runtime_error);
    EXPECT_EQ(log, "unwound ");
    EXPECT_TRUE(at == failed.end());
  }
  EXPECT_EQ(log, "unwound ");
}

TEST(generator, that_never_returns_destroys_its_locals_once_when_it_throws) {
  std::string log;
  auto endless = [&]() -> generator<int> {
    const noted local(log, "unwound ");
    for (int n = 1;; ++n) {
      if (n == 3) throw std::runtime_error("from an endless loop");
      co_yield n;
    }
  };
  EXPECT_THROW((void)all_of(endless()), std::runtime_error);
  EXPECT_EQ(log, "unwound ");
}

TEST(generator, throws_into_its_body_if_a_yielded_variable_cannot_be_copied) {
  struct no_copy {
    no_copy() = default;
    no_copy(const no_copy&) { throw std::runtime_error("no copy"); }
    no_copy& operator=(const no_copy&) = delete;
    ~no_copy() = default;
  };
  bool caught = false;
  auto body = [&]() -> generator<no_copy> {
    const no_copy own;
    try {
      co_yield own;
    } catch (const std::runtime_error&) {
      caught = true;
    }
  };
  auto one = body();
  EXPECT_TRUE(one.begin() == one.end());
  EXPECT_TRUE(caught);
}

TEST(generator, can_be_moved_before_and_while_it_is_iterated) {
  auto first = count_to(3);
  auto second = std::move(first);
  auto at = second.begin();
  ++at;
  const auto third = std::move(second);
  EXPECT_EQ(*at, 2);
  ++at;
  EXPECT_EQ(*at, 3);
  ++at;
  EXPECT_TRUE(at == third.end());
}

TEST(generator, drops_by_assignment_what_was_there) {
  std::string log;
  auto one = noting(log);
  (void)one.begin();
  one = noting(log);
  EXPECT_EQ(log, "one first ");
  EXPECT_EQ(*one.begin(), 1);
}

TEST(generator, works_with_the_standard_views) {
  auto numbers = count_to(1'000'000);
  std::vector<int> seen;
  for (int n : numbers | std::views::filter([](int n) { return n % 2 == 0; }) |
                   std::views::transform([](int n) { return n * 10; }) | std::views::take(3))
    seen.push_back(n);
  EXPECT_THAT(seen, ElementsAre(20, 40, 60));

  seen.clear();
  for (int n : count_to(9) | std::views::take(2)) seen.push_back(n);
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

struct tree {
  int value = 0;
  std::unique_ptr<tree> left, right;
};
std::unique_ptr<tree> balanced(int from, int to) {
  if (from > to) return nullptr;
  auto root = std::make_unique<tree>();
  const int middle = from + (to - from) / 2;
  root->value = middle;
  root->left = balanced(from, middle - 1);
  root->right = balanced(middle + 1, to);
  return root;
}
generator<const int&> in_order(const tree* root) {
  if (root == nullptr) co_return;
  for (const int& value : in_order(root->left.get())) co_yield value;
  co_yield root->value;
  for (const int& value : in_order(root->right.get())) co_yield value;
}

TEST(generator, may_iterate_itself_recursively) {
  const auto root = balanced(1, 1'000);
  int next = 1;
  for (const int& value : in_order(root.get())) EXPECT_EQ(value, next++);
  EXPECT_EQ(next, 1'001);
}

TEST(generator, may_yield_generators) {
  auto rows = []() -> generator<generator<int>> {
    for (int n = 0; n < 4; ++n) co_yield count_to(n);
  };
  std::vector<int> seen;
  for (auto&& row : rows()) {
    for (int n : row) seen.push_back(n);
  }
  EXPECT_THAT(seen, ElementsAre(1, 1, 2, 1, 2, 3));
}

TEST(generator, passes_an_exception_through_nested_loops) {
  std::string log;
  auto inner = [&]() -> generator<int> {
    const noted local(log, "inner ");
    co_yield 1;
    throw std::runtime_error("from the inner one");
  };
  auto outer = [&]() -> generator<int> {
    const noted local(log, "outer ");
    for (int n : inner()) co_yield n;
  };
  EXPECT_THROW((void)all_of(outer()), std::runtime_error);
  EXPECT_EQ(log, "inner outer ");
}

TEST(generator, whose_local_throws_while_it_is_dropped_ends_the_program) {
  struct fuse {
    fuse() = default;
    fuse(const fuse&) = delete;
    fuse& operator=(const fuse&) = delete;
    ~fuse() noexcept(false) { throw std::runtime_error("late"); }
  };
  auto lit = []() -> generator<int> {
    const fuse local;
    co_yield 1;
  };
  auto drop = [&] {
    auto dropped = lit();
    (void)dropped.begin();
  };
  EXPECT_DEATH(drop(), "");
  auto ends = lit();
  auto at = ends.begin();
  EXPECT_THROW(++at, std::runtime_error);
}

TEST(generator, is_iterated_once) {
  auto twice = count_to(2);
  (void)twice.begin();
  EXPECT_DEATH((void)twice.begin(), "a generator is iterated once");
  auto moved = std::move(twice);
  EXPECT_DEATH((void)moved.begin(), "a generator is iterated once");
}

TEST(generator, is_not_read_past_its_end) {
  auto none = nothing();
  auto at = none.begin();
  EXPECT_DEATH((void)*at, "an iterator is dereferenced before the end");
  EXPECT_DEATH(++at, "a generator is not advanced past its end");
}

}  // namespace
