// tests/base/cache_line_test.cpp: the constants suit this machine.
#include "skua/base/cache_line.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstddef>

namespace {

using skua::cache_line;
using skua::interference_distance;

TEST(cache_line, is_not_smaller_than_this_machines) {
  const long here = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
  if (here <= 0) GTEST_SKIP() << "the system does not tell";
  EXPECT_LE(static_cast<std::size_t>(here), interference_distance);
  EXPECT_EQ(interference_distance % static_cast<std::size_t>(here), 0U);
}

TEST(interference_distance, is_a_pair_of_lines_and_an_alignment) {
  EXPECT_EQ(interference_distance, 2 * cache_line);
  EXPECT_TRUE(std::has_single_bit(interference_distance));
}

}  // namespace
