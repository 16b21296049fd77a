// bench/runtime/ping_pong.cpp: the cost of waking another task and waiting for it to wake us.
//
// A round is there and back: two wakes and two waits, through leaves that do nothing else
// (event.hpp). Baseline: the same on a std::deque scheduler with one thread (hand_made.hpp).
// Time: run without arguments. Instructions:
//   tools/instructions.py --only pair.current_thread build/release/bench/bench.runtime.ping_pong
#include "runtime/event.hpp"
#include "runtime/flavours.hpp"
#include "runtime/hand_made.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/side_by_side.hpp"

#include <vector>

namespace {

skua::task<unsigned long> play(event& mine, event& yours, int rounds, bool serves) {
  for (int i = 0; i < rounds; ++i) {
    if (serves) yours.set();
    co_await event::wait(mine);
    if (!serves) yours.set();
  }
  co_return 1UL;
}
hand_made::spawned hand_made_play(hand_made::scheduler&, hand_made::event& mine,
                                  hand_made::event& yours, int rounds, bool serves) {
  for (int i = 0; i < rounds; ++i) {
    if (serves) yours.set();
    co_await mine;
    if (!serves) yours.set();
  }
  co_return 1UL;
}

skua::task<unsigned long> match(int rounds) {
  event ping;
  event pong;
  auto one = skua::spawn(play(ping, pong, rounds, true));
  auto other = skua::spawn(play(pong, ping, rounds, false));
  const unsigned long first = co_await std::move(one);
  co_return first + co_await std::move(other);
}
hand_made::spawned hand_made_match(hand_made::scheduler& here, int rounds) {
  hand_made::event ping(here);
  hand_made::event pong(here);
  auto one = hand_made_play(here, ping, pong, rounds, true);
  auto other = hand_made_play(here, pong, ping, rounds, false);
  const unsigned long first = co_await one;
  co_return first + co_await other;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<match>(all, "pair", 100'000, {"deque", hand_made::run<hand_made_match>});
  return side_by_side(argc, argv, "ping-pong", all);
}
