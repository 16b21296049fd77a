// bench/runtime/spawn_join.cpp: the cost of a task: spawn it, run it, join it.
//
// A round is one trivial task with a value. "one": spawned and awaited, one after the other;
// "thousand": 1,000 spawned, then all joined. Baseline: the same on a std::deque scheduler with one
// thread (hand_made.hpp), whose task has a value or an exception, and a free list for its frames.
// Time: run without arguments. Instructions:
//   tools/instructions.py --only one.current_thread build/release/bench/bench.runtime.spawn_join
#include "runtime/flavours.hpp"
#include "runtime/hand_made.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/side_by_side.hpp"

#include <vector>

namespace {

constexpr int at_once = 1'000;

[[gnu::noinline]] skua::task<unsigned long> child(int n) {
  co_return static_cast<unsigned long>(n);
}
[[gnu::noinline]] hand_made::spawned hand_made_child(hand_made::scheduler&, int n) {
  co_return static_cast<unsigned long>(n);
}

skua::task<unsigned long> one_by_one(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await skua::spawn(child(i));
  co_return sum;
}
hand_made::spawned hand_made_one_by_one(hand_made::scheduler& here, int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await hand_made_child(here, i);
  co_return sum;
}

skua::task<unsigned long> by_the_thousand(int rounds) {
  unsigned long sum = 0;
  std::vector<skua::join_handle<unsigned long>> handles;
  handles.reserve(at_once);
  for (int left = rounds; left > 0; left -= at_once) {
    for (int i = 0; i < at_once; ++i) handles.push_back(skua::spawn(child(i)));
    for (auto& handle : handles) sum += co_await std::move(handle);
    handles.clear();
  }
  co_return sum;
}
hand_made::spawned hand_made_by_the_thousand(hand_made::scheduler& here, int rounds) {
  unsigned long sum = 0;
  std::vector<hand_made::spawned> handles;
  handles.reserve(at_once);
  for (int left = rounds; left > 0; left -= at_once) {
    for (int i = 0; i < at_once; ++i) handles.push_back(hand_made_child(here, i));
    for (auto& handle : handles) sum += co_await handle;
    handles.clear();
  }
  co_return sum;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<one_by_one>(all, "one", 100'000, {"deque", hand_made::run<hand_made_one_by_one>});
  flavours::add<by_the_thousand>(all, "thousand", 100'000,
                                 {"deque", hand_made::run<hand_made_by_the_thousand>});
  return side_by_side(argc, argv, "spawn and join", all);
}
