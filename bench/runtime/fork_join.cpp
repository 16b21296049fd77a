// bench/runtime/fork_join.cpp: trees of small tasks that wait for their children.
//
// "fib": fib(25), a task for each of its 242,785 calls. "skynet": a tree of ten children each,
// 100,000 leaves (111,111 tasks), and "skynet_million": ten times that. A round is a whole tree.
// Baseline: the same on a std::deque scheduler with one thread (hand_made.hpp).
// Time: run without arguments.
#include "runtime/flavours.hpp"
#include "runtime/hand_made.hpp"
#include "runtime/trees.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/side_by_side.hpp"

#include <vector>

namespace {

constexpr unsigned long fib_of = 25;
constexpr unsigned long children = 10;

hand_made::spawned hand_made_fib(hand_made::scheduler& here, unsigned long n) {
  if (n < 2) co_return n;
  auto one = hand_made_fib(here, n - 1);
  auto other = hand_made_fib(here, n - 2);
  const unsigned long first = co_await one;
  co_return first + co_await other;
}

hand_made::spawned hand_made_skynet(hand_made::scheduler& here, unsigned long number,
                                    unsigned long size) {
  if (size == 1) co_return number;
  std::vector<hand_made::spawned> handles;
  handles.reserve(children);
  for (unsigned long i = 0; i < children; ++i)
    handles.push_back(hand_made_skynet(here, number + (i * size / children), size / children));
  unsigned long sum = 0;
  for (auto& handle : handles) sum += co_await handle;
  co_return sum;
}

skua::task<unsigned long> fibs(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await skua::spawn(trees::fib(fib_of));
  co_return sum;
}
hand_made::spawned hand_made_fibs(hand_made::scheduler& here, int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await hand_made_fib(here, fib_of);
  co_return sum;
}

template <unsigned long Size>
skua::task<unsigned long> skynets(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await skua::spawn(trees::skynet(0, Size));
  co_return sum;
}
template <unsigned long Size>
hand_made::spawned hand_made_skynets(hand_made::scheduler& here, int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await hand_made_skynet(here, 0, Size);
  co_return sum;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<fibs>(all, "fib", 1, {"deque", hand_made::run<hand_made_fibs>});
  flavours::add<skynets<100'000>>(all, "skynet", 1,
                                  {"deque", hand_made::run<hand_made_skynets<100'000>>});
  flavours::add<skynets<1'000'000>>(all, "skynet_million", 1,
                                    {"deque", hand_made::run<hand_made_skynets<1'000'000>>});
  return side_by_side(argc, argv, "fork and join", all);
}
