// bench/peers/asio/trees.cpp: trees of coroutines that wait for their children.
#include "common/trees.hpp"

#include "asio/countdown.hpp"
#include "asio/questions.hpp"
#include "asio/start_task.hpp"

#include <asio/this_coro.hpp>

#include <array>
#include <exception>

namespace {

using peers::board;
using sum_type = asio::awaitable<std::uint64_t>;

/// The children of one coroutine; what each gives is left in a place of its own.
class family {
public:
  family(asio::any_io_executor here, std::size_t size)
      : here_(std::move(here)), left_(size), size_(size) {}

  void spawn(sum_type child) {
    std::uint64_t& place = sums_[spawned_++];
    start_task(here_, std::move(child),
               [this, &place](const std::exception_ptr&, std::uint64_t one) {
                 place = one;
                 left_.arrive();
               });
  }
  sum_type sum() {
    co_await left_.wait();
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < size_; ++i) all += sums_[i];
    co_return all;
  }

private:
  asio::any_io_executor here_;
  countdown left_;
  std::array<std::uint64_t, 16> sums_{};
  std::size_t size_;
  std::size_t spawned_ = 0;
};

sum_type fib(unsigned n) {
  if (n < 2) co_return n;
  family children(co_await asio::this_coro::executor, 2);
  children.spawn(fib(n - 1));
  children.spawn(fib(n - 2));
  co_return co_await children.sum();
}

sum_type skynet(std::uint64_t number, std::uint64_t leaves) {
  if (leaves == 1) co_return number;
  family children(co_await asio::this_coro::executor, 10);
  for (std::uint64_t i = 0; i < 10; ++i)
    children.spawn(skynet(number + i * leaves / 10, leaves / 10));
  co_return co_await children.sum();
}

std::size_t free_columns(unsigned size, board so_far) {
  std::size_t count = 0;
  for (unsigned column = 0; column < size; ++column) count += so_far.is_free(column) ? 1U : 0U;
  return count;
}
sum_type queens(unsigned size, board so_far, unsigned row) {
  if (row == size) co_return 1U;
  family children(co_await asio::this_coro::executor, free_columns(size, so_far));
  for (unsigned column = 0; column < size; ++column)
    if (so_far.is_free(column)) children.spawn(queens(size, so_far.with(column), row + 1));
  co_return co_await children.sum();
}

struct tree {
  std::uint64_t tasks;
  std::uint64_t result;
  std::function<sum_type()> grow;
};

asio::awaitable<void> time_it(const tree& full, std::int64_t& taken) {
  peers::must_be(co_await full.grow(), full.result);  // to warm up
  const std::int64_t begun = peers::now();
  peers::must_be(co_await full.grow(), full.result);
  taken = peers::now() - begun;
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
  std::int64_t taken = 0;
  run_on_workers(asked.workers, [&] { return time_it(full, taken); });
  return peers::per_operation(taken, full.tasks);
}

}  // namespace

void add_trees(questions& to) {
  to.push_back({"fib", grow<fib_tree>});
  to.push_back({"skynet", grow<skynet_tree>});
  to.push_back({"nqueens", grow<queens_tree>});
}
