// bench/sync/notify.cpp: the cost of waking another task by a notify, and waiting for its answer.
//
// A round is there and back: two wakes and two waits. Baseline: the same on a std::deque scheduler
// with one thread (bench/runtime/hand_made.hpp). Time: run without arguments. Instructions:
//   tools/instructions.py --only pair.current_thread build/release/bench/bench.sync.notify
#include "skua/sync/notify.hpp"

#include "runtime/flavours.hpp"
#include "runtime/hand_made.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/side_by_side.hpp"

#include <utility>
#include <vector>

namespace {

skua::task<unsigned long> play(skua::notify& mine, skua::notify& yours, int rounds, bool serves) {
  for (int i = 0; i < rounds; ++i) {
    if (serves) yours.notify_one();
    co_await mine.wait();
    if (!serves) yours.notify_one();
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
  skua::notify ping;
  skua::notify pong;
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
  return side_by_side(argc, argv, "notify ping-pong", all);
}
