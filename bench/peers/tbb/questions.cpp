// bench/peers/tbb/questions.cpp: the fork-join questions, which are what TBB is for.
#include "common/protocol.hpp"
#include "common/trees.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <array>
#include <cstdint>

namespace {

using oneapi::tbb::task_group;
using peers::board;

std::uint64_t fib(unsigned n) {
  if (n < 2) return n;
  std::uint64_t one = 0;
  std::uint64_t other = 0;
  task_group children;
  children.run([&] { one = fib(n - 1); });
  children.run([&] { other = fib(n - 2); });
  children.wait();
  return one + other;
}

std::uint64_t skynet(std::uint64_t number, std::uint64_t leaves) {
  if (leaves == 1) return number;
  std::array<std::uint64_t, 10> sums{};
  task_group children;
  for (std::uint64_t i = 0; i < sums.size(); ++i)
    children.run([&, i] { sums[i] = skynet(number + i * leaves / 10, leaves / 10); });
  children.wait();
  std::uint64_t sum = 0;
  for (const std::uint64_t one : sums) sum += one;
  return sum;
}

std::uint64_t queens(unsigned size, board so_far, unsigned row) {
  if (row == size) return 1;
  std::array<std::uint64_t, 16> sums{};
  task_group children;
  for (unsigned column = 0; column < size; ++column)
    if (so_far.is_free(column))
      children.run([&, column] { sums[column] = queens(size, so_far.with(column), row + 1); });
  children.wait();
  std::uint64_t sum = 0;
  for (const std::uint64_t one : sums) sum += one;
  return sum;
}

struct tree {
  std::uint64_t tasks;
  std::uint64_t result;
  std::function<std::uint64_t()> grow;
};

tree fib_tree(const peers::request& asked) {
  const unsigned n = peers::fib_argument(asked);
  return {peers::fib_tasks(n), peers::fib_of(n), [=] { return fib(n); }};
}
tree skynet_tree(const peers::request& asked) {
  const std::uint64_t leaves = peers::skynet_leaves(asked);
  return {peers::skynet_tasks(leaves), peers::sum_below(leaves), [=] { return skynet(0, leaves); }};
}
tree queens_tree(const peers::request& asked) {
  const unsigned size = peers::queens(asked);
  return {peers::queens_tasks(size), peers::queens_solutions(size),
          [=] { return queens(size, {}, 0); }};
}

template <auto Make>
peers::answer grow(const peers::request& asked) {
  const tree full = Make(asked);
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          asked.workers);
  oneapi::tbb::task_arena here(static_cast<int>(asked.workers));
  here.execute([&] { peers::must_be(full.grow(), full.result); });  // to warm up
  const std::int64_t begun = peers::now();
  here.execute([&] { peers::must_be(full.grow(), full.result); });
  return peers::per_operation(peers::now() - begun, full.tasks);
}

}  // namespace

std::vector<peers::question> peers::all_questions() {
  return {{"fib", grow<fib_tree>}, {"skynet", grow<skynet_tree>}, {"nqueens", grow<queens_tree>}};
}
