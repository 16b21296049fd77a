// bench/runtime/fork_join_order.cpp: trees of tasks with order::lifo, against order::fifo.
//
// The trees of fork_join.cpp: "fib" is fib(25), 242,785 tasks; "skynet" 111,111 tasks,
// "skynet_million" 1,111,111. A round is a whole tree. Run without arguments it first prints how
// many frames were alive at once in one tree, which is not timed.
#include "runtime/flavours.hpp"
#include "runtime/trees.hpp"
#include "support/side_by_side.hpp"

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace {

template <typename Frame>
skua::task<unsigned long> fib() {
  return trees::fib<Frame>(25);
}
template <typename Frame>
skua::task<unsigned long> skynet() {
  return trees::skynet<Frame>(0, 100'000);
}
template <typename Frame>
skua::task<unsigned long> skynet_million() {
  return trees::skynet<Frame>(0, 1'000'000);
}

template <auto Tree>
skua::task<unsigned long> again_and_again(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await skua::spawn(Tree());
  co_return sum;
}

template <auto Tree, std::size_t Workers, skua::order Order>
long frames_at_once() {
  flavours::kept<skua::flavour::multi_thread, Workers, Order>().block_on(Tree());
  return trees::counted::take_peak();
}

template <auto Tree, auto CountedTree, std::size_t Workers>
void add(std::vector<comparison>& to, const std::string& name, bool print_frames) {
  using enum skua::order;
  constexpr auto body = again_and_again<Tree>;
  constexpr auto multi = skua::flavour::multi_thread;
  const std::string whole =
      name + "." + std::to_string(Workers) + "_worker" + (Workers > 1 ? "s" : "");
  to.push_back({whole,
                1,
                {"lifo", flavours::on<body, multi, Workers, lifo>},
                {"fifo", flavours::on<body, multi, Workers, fifo>}});
  if (!print_frames) return;
  std::printf("frames alive at once, %s: lifo %ld, fifo %ld\n", whole.c_str(),
              frames_at_once<CountedTree, Workers, lifo>(),
              frames_at_once<CountedTree, Workers, fifo>());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  using trees::counted;
  using trees::uncounted;
  const bool frames = argc == 1;
  std::vector<comparison> all;
  add<fib<uncounted>, fib<counted>, 1>(all, "fib", frames);
  add<fib<uncounted>, fib<counted>, 2>(all, "fib", frames);
  add<skynet<uncounted>, skynet<counted>, 1>(all, "skynet", frames);
  add<skynet<uncounted>, skynet<counted>, 2>(all, "skynet", frames);
  add<skynet_million<uncounted>, skynet_million<counted>, 1>(all, "skynet_million", frames);
  add<skynet_million<uncounted>, skynet_million<counted>, 2>(all, "skynet_million", frames);
  return side_by_side(argc, argv, "fork and join, lifo / fifo", all);
}
