// tests/fiber/stack_pool_test.cpp: what a pool keeps, gives back and guards.
#include "skua/fiber/stack_pool.hpp"

#include "skua/base/sanitizer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace {

using skua::fiber::stack;
using skua::fiber::stack_pool;
using skua::fiber::stack_pool_options;

constexpr std::size_t small = 16'384;

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

/// Pages of `one` that take memory.
std::size_t resident_pages(const stack& one) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> states(one.size / page);
  EXPECT_EQ(::mincore(one.lowest, one.size, states.data()), 0);
  std::size_t count = 0;
  for (const unsigned char state : states) count += state & 1U;
  return count;
}

/// A pipe refuses to take bytes from where they cannot be read.
bool readable(const std::byte* at) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const bool yes = ::write(ends[1], at, 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return yes;
}

void expect_guarded(const stack& one) {
  EXPECT_GE(one.guard_size, 4'096U);
  EXPECT_TRUE(readable(one.lowest));
  EXPECT_TRUE(readable(one.top() - 1));
  EXPECT_FALSE(readable(one.lowest - 1));
  EXPECT_FALSE(readable(one.lowest - one.guard_size));
  EXPECT_TRUE(one.guards(one.lowest - 1));
  EXPECT_FALSE(one.guards(one.lowest));
}

TEST(a_stack, has_whole_pages_and_a_guard_below) {
  for (const bool old : {false, true}) {
    stack_pool pool(stack_pool_options().as_on_old_kernels(old));
    const stack one = pool.take(20'000);
    const stack other = pool.take(20'000);
    EXPECT_EQ(one.size, 20'480U);
    expect_guarded(one);
    expect_guarded(other);
    pool.give_back(one);
    pool.give_back(other);
  }
}

TEST(a_stack, is_used_again_with_its_memory) {
  stack_pool pool;
  const stack first = pool.take(small);
  std::memset(first.lowest, 1, first.size);
  pool.give_back(first);
  EXPECT_EQ(pool.look().kept_bytes, small);
  const stack second = pool.take(small);
  EXPECT_EQ(second.lowest, first.lowest);
  EXPECT_EQ(resident_pages(second), small / 4'096);
  EXPECT_EQ(pool.look().kept_bytes, 0U);
  pool.give_back(second);
}

TEST(a_pool, keeps_no_more_memory_than_it_is_told) {
  constexpr std::size_t most = 4 * small;
  stack_pool pool(stack_pool_options().kept_bytes(most));
  std::vector<stack> all(1'000);
  for (stack& one : all) {
    one = pool.take(small);
    std::memset(one.lowest, 1, one.size);
  }
  EXPECT_EQ(pool.look().live, 1'000U);
  EXPECT_GE(pool.look().mapped_bytes, 1'000 * small);
  for (const stack& one : all) pool.give_back(one);
  const auto now = pool.look();
  EXPECT_EQ(now.live, 0U);
  EXPECT_LE(now.kept_bytes, most);
  EXPECT_LE(now.mapped_bytes, std::size_t{4} * 1024 * 1024);
}

TEST(a_pool, cools_a_stack_whose_neighbours_are_in_use) {
  stack_pool pool(stack_pool_options().kept_bytes(0));
  const stack neighbour = pool.take(small);
  const stack one = pool.take(small);
  std::memset(one.lowest, 1, one.size);
  pool.give_back(one);
  EXPECT_EQ(resident_pages(one), 0U);
  expect_guarded(one);
  pool.give_back(neighbour);
  EXPECT_EQ(pool.look().mapped_bytes, 0U);
}

TEST(a_pool, refuses_stacks_that_an_old_kernel_cannot_guard) {
  stack_pool pool(stack_pool_options().as_on_old_kernels(true).guarded_by_mapping(100));
  std::vector<stack> all;
  std::string said;
  try {
    for (;;) all.push_back(pool.take(small));
  } catch (const std::system_error& error) {
    said = error.what();
  }
  EXPECT_NE(said.find("no more guarded stacks"), std::string::npos);
  EXPECT_GT(all.size(), 60U);
  EXPECT_LE(all.size(), 100U);
  for (const stack& one : all) expect_guarded(one);
  for (const stack& one : all) pool.give_back(one);
}

TEST(a_pool, gives_unguarded_ones_if_it_is_allowed_to) {
  stack_pool pool(
      stack_pool_options().as_on_old_kernels(true).guarded_by_mapping(100).unguarded_beyond(true));
  std::vector<stack> all(200);
  for (stack& one : all) one = pool.take(small);
  EXPECT_GT(all.front().guard_size, 0U);
  EXPECT_EQ(all.back().guard_size, 0U);
  EXPECT_FALSE(all.back().guards(all.back().lowest - 1));
  for (const stack& one : all) pool.give_back(one);
}

TEST(a_pool, counts_guards_back_when_it_unmaps) {
  stack_pool pool(
      stack_pool_options().as_on_old_kernels(true).guarded_by_mapping(100).kept_bytes(0));
  for (int round = 0; round < 20; ++round) {
    std::vector<stack> all(50);
    for (stack& one : all) one = pool.take(small);
    for (const stack& one : all) pool.give_back(one);
  }
  EXPECT_EQ(pool.look().guarded_by_mapping, 0U);
}

TEST(a_pool, needs_few_mappings_for_many_stacks_where_the_kernel_can_mark_guards) {
  stack_pool pool;
  pool.give_back(pool.take(small));
  if (pool.look().guarded_by_mapping > 0) GTEST_SKIP() << "the kernel cannot mark guards";
  if (skua::built_with_tsan) GTEST_SKIP() << "ThreadSanitizer makes mappings for what it notes";
  const std::size_t before = mappings();
  std::vector<stack> all(20'000);
  for (stack& one : all) one = pool.take(small);
  const std::size_t after = mappings();
  expect_guarded(all.front());
  expect_guarded(all.back());
  for (const stack& one : all) pool.give_back(one);
  EXPECT_LT(after, before + 500);
}

}  // namespace
