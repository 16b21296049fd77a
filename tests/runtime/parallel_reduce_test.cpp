// tests/runtime/parallel_reduce_test.cpp: the same value as one after the other, on any kind.
#include "skua/runtime/parallel_reduce.hpp"

#include "skua/skua.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using skua::parallel_reduce;
using skua::task;

class reduce : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(any, reduce, skua_test::every_kind(), skua_test::name_of_kind);

TEST_P(reduce, gives_the_sum_of_any_number) {
  auto rt = start();
  for (const std::size_t count : {0U, 1U, 2U, 63U, 64U, 65U, 10'000U}) {
    std::vector<long> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 1);
    const long sum = rt.block_on(parallel_reduce(numbers, 0L, std::plus<>()));
    EXPECT_EQ(sum, static_cast<long>(count * (count + 1) / 2));
  }
}

TEST_P(reduce, keeps_the_order) {
  auto rt = start();
  std::vector<int> digits(500);
  std::string expected;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    digits[i] = static_cast<int>(i % 10);
    expected += std::to_string(digits[i]);
  }
  auto print = [](int digit) { return std::to_string(digit); };
  EXPECT_EQ(rt.block_on(parallel_reduce(digits, std::string(), std::plus<>(), print)), expected);
}

TEST_P(reduce, rethrows_what_a_function_throws) {
  auto rt = start();
  const std::vector<int> numbers(1'000, 1);
  auto refuse = [](int) -> int { throw std::runtime_error("no"); };
  EXPECT_THROW(rt.block_on(parallel_reduce(numbers, 0, std::plus<>(), refuse)), std::runtime_error);
}

}  // namespace
