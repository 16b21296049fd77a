// bench/peers/common/trees.cpp: how large the trees of the fork-join questions are.
#include "common/trees.hpp"

#include <algorithm>
#include <cmath>

namespace peers {

unsigned fib_argument(const request& asked) {
  const double steps = std::log(asked.scale) / std::log(1.618);
  return static_cast<unsigned>(std::clamp(30 + std::lround(steps), 10L, 40L));
}

std::uint64_t fib_of(unsigned n) {
  std::uint64_t one = 0;
  std::uint64_t next = 1;
  for (unsigned i = 0; i < n; ++i) {
    const std::uint64_t sum = one + next;
    one = next;
    next = sum;
  }
  return one;
}

std::uint64_t fib_tasks(unsigned n) {
  return 2 * fib_of(n + 1) - 1;
}

std::uint64_t skynet_leaves(const request& asked) {
  std::uint64_t leaves = 1'000'000;
  for (double left = asked.scale; left < 0.9 && leaves > 100; left *= 10) leaves /= 10;
  return leaves;
}

std::uint64_t skynet_tasks(std::uint64_t leaves) {
  return leaves == 1 ? 1 : leaves + skynet_tasks(leaves / 10);
}

unsigned queens(const request& asked) {
  if (asked.scale > 0.9) return 11;
  return asked.scale > 0.09 ? 10 : 8;
}

std::uint64_t queens_solutions(unsigned size) {
  constexpr std::uint64_t known[] = {92, 352, 724, 2'680};
  return known[size - 8];
}

std::uint64_t queens_tasks(unsigned size, board so_far, unsigned row) {
  std::uint64_t boards = 1;
  for (unsigned column = 0; row < size && column < size; ++column)
    if (so_far.is_free(column)) boards += queens_tasks(size, so_far.with(column), row + 1);
  return boards;
}

}  // namespace peers
