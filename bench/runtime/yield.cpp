// bench/runtime/yield.cpp: the cost of giving way, alone and among a thousand.
//
// A round is one co_await yield(). "one": a single task; "thousand": 1,000 tasks that take turns,
// more than a worker's own queue holds. Baseline: the same on a std::deque scheduler with one
// thread (hand_made.hpp). Time: run without arguments. Instructions:
//   tools/instructions.py --only one.current_thread build/release/bench/bench.runtime.yield
#include "skua/coro/yield.hpp"
#include "runtime/flavours.hpp"
#include "runtime/hand_made.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/side_by_side.hpp"

#include <vector>

namespace {

constexpr int at_once = 1'000;

skua::task<unsigned long> gives_way(int rounds) {
  unsigned long turns = 0;
  for (int i = 0; i < rounds; ++i) {
    co_await skua::yield();
    ++turns;
  }
  co_return turns;
}
hand_made::spawned hand_made_gives_way(hand_made::scheduler& here, int rounds) {
  unsigned long turns = 0;
  for (int i = 0; i < rounds; ++i) {
    co_await hand_made::gives_way(here);
    ++turns;
  }
  co_return turns;
}

skua::task<unsigned long> in_a_crowd(int rounds) {
  unsigned long sum = 0;
  std::vector<skua::join_handle<unsigned long>> handles;
  handles.reserve(at_once);
  for (int i = 0; i < at_once; ++i) handles.push_back(skua::spawn(gives_way(rounds / at_once)));
  for (auto& handle : handles) sum += co_await std::move(handle);
  co_return sum;
}
hand_made::spawned hand_made_in_a_crowd(hand_made::scheduler& here, int rounds) {
  unsigned long sum = 0;
  std::vector<hand_made::spawned> handles;
  handles.reserve(at_once);
  for (int i = 0; i < at_once; ++i) handles.push_back(hand_made_gives_way(here, rounds / at_once));
  for (auto& handle : handles) sum += co_await handle;
  co_return sum;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<gives_way>(all, "one", 300'000, {"deque", hand_made::run<hand_made_gives_way>});
  flavours::add<in_a_crowd>(all, "thousand", 300'000,
                            {"deque", hand_made::run<hand_made_in_a_crowd>});
  return side_by_side(argc, argv, "yield", all);
}
