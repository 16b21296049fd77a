// bench/runtime/chained_spawn.cpp: the cost of a task that starts the next one and ends.
//
// A round is one link of a chain of 1,000: nobody joins it, the last tells the one that waits for
// the chain. Baseline: the same on a std::deque scheduler with one thread (hand_made.hpp).
// Time: run without arguments. Instructions:
//   tools/instructions.py --only links.current_thread
//   build/release/bench/bench.runtime.chained_spawn
#include "runtime/event.hpp"
#include "runtime/flavours.hpp"
#include "runtime/hand_made.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/side_by_side.hpp"

#include <vector>

namespace {

constexpr int links = 1'000;

skua::task<> link(event& last, int left) {
  if (left == 0)
    last.set();
  else
    skua::spawn(link(last, left - 1)).detach();
  co_return;
}
hand_made::detached hand_made_link(hand_made::scheduler& here, hand_made::event& last, int left) {
  if (left == 0)
    last.set();
  else
    hand_made_link(here, last, left - 1);
  co_return;
}

skua::task<unsigned long> chains(int rounds) {
  event last;
  unsigned long made = 0;
  for (int left = rounds; left > 0; left -= links) {
    skua::spawn(link(last, links - 1)).detach();
    co_await event::wait(last);
    ++made;
  }
  co_return made;
}
hand_made::spawned hand_made_chains(hand_made::scheduler& here, int rounds) {
  hand_made::event last(here);
  unsigned long made = 0;
  for (int left = rounds; left > 0; left -= links) {
    hand_made_link(here, last, links - 1);
    co_await last;
    ++made;
  }
  co_return made;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<chains>(all, "links", 100'000, {"deque", hand_made::run<hand_made_chains>});
  return side_by_side(argc, argv, "chained spawn", all);
}
