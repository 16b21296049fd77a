// bench/peers/skua/trees.cpp: trees of tasks that wait for their children.
#include "common/trees.hpp"

#include "skua/questions.hpp"

#include <skua/runtime/join_handle.hpp>
#include <skua/runtime/spawn.hpp>

#include <utility>

namespace {

using peers::board;
using handles = std::vector<skua::join_handle<std::uint64_t>>;

skua::task<std::uint64_t> sum_of(handles all) {
  std::uint64_t sum = 0;
  for (auto& one : all) sum += co_await std::move(one);
  co_return sum;
}

skua::task<std::uint64_t> fib(unsigned n) {
  if (n < 2) co_return n;
  auto one = skua::spawn(fib(n - 1));
  auto other = skua::spawn(fib(n - 2));
  const std::uint64_t first = co_await std::move(one);
  co_return first + co_await std::move(other);
}

skua::task<std::uint64_t> skynet(std::uint64_t number, std::uint64_t leaves) {
  if (leaves == 1) co_return number;
  handles children;
  children.reserve(10);
  for (std::uint64_t i = 0; i < 10; ++i)
    children.push_back(skua::spawn(skynet(number + i * leaves / 10, leaves / 10)));
  co_return co_await sum_of(std::move(children));
}

skua::task<std::uint64_t> queens(unsigned size, board so_far, unsigned row) {
  if (row == size) co_return 1U;
  handles children;
  children.reserve(size);
  for (unsigned column = 0; column < size; ++column)
    if (so_far.is_free(column))
      children.push_back(skua::spawn(queens(size, so_far.with(column), row + 1)));
  co_return co_await sum_of(std::move(children));
}

struct tree {
  std::uint64_t tasks;
  std::uint64_t result;
  std::function<skua::task<std::uint64_t>()> grow;
};

skua::task<std::int64_t> time_it(const tree& full) {
  peers::must_be(co_await skua::spawn(full.grow()), full.result);  // to warm up
  const std::int64_t begun = peers::now();
  peers::must_be(co_await skua::spawn(full.grow()), full.result);
  co_return peers::now() - begun;
}

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
  skua::runtime here = start_runtime(asked);
  return peers::per_operation(here.block_on(time_it(full)), full.tasks);
}

}  // namespace

void add_trees(questions& to) {
  to.push_back({"fib", grow<fib_tree>});
  to.push_back({"skynet", grow<skynet_tree>});
  to.push_back({"nqueens", grow<queens_tree>});
}
