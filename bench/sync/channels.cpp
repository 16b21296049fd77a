// bench/sync/channels.cpp: the cost of a message through each kind of channel.
//
// A round is one message, a number. Baseline: a push and a pop at a bare ring of 64 places
// (bare_ring.hpp) by one thread, without tasks, waiting or handles: what remains of a channel if
// nothing can go wrong. Bounded channels have 64 places, too. "8_to_1" and the like: so many tasks
// send, so many receive. A oneshot is new for each message, as is the task that answers. A watch
// and a broadcast send, give way, and are received by one task or by eight.
// The promise is six times the baseline for "mpsc" on one worker. Time: run without arguments.
// Instructions:
//   tools/instructions.py --only mpsc.1_worker build/release/bench/bench.sync.channels
#include "runtime/flavours.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/sync/broadcast.hpp"
#include "skua/sync/mpmc.hpp"
#include "skua/sync/mpsc.hpp"
#include "skua/sync/oneshot.hpp"
#include "skua/sync/spsc.hpp"
#include "skua/sync/watch.hpp"
#include "support/side_by_side.hpp"
#include "sync/bare_ring.hpp"

#include <type_traits>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t places = 64;

unsigned long bare(int rounds) {
  bare_ring ring(places);
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) {
    unsigned long value = 0;
    if (!ring.push(static_cast<unsigned long>(i)) || !ring.pop(value)) return 0;
    sum += value;
  }
  return sum;
}

using unbounded_sender = skua::mpsc::unbounded_sender<unsigned long>;

template <typename Sender>
skua::task<> send(Sender to, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    if constexpr (std::is_same_v<Sender, unbounded_sender>) {
      (void)to.send(static_cast<unsigned long>(i));
      co_await skua::consume_budget();
    } else {
      (void)co_await to.send(static_cast<unsigned long>(i));
    }
  }
}
template <typename Receiver>
skua::task<unsigned long> receive(Receiver from) {
  unsigned long sum = 0;
  while (auto one = co_await from.receive()) sum += *one;
  co_return sum;
}

using sums = std::vector<skua::join_handle<unsigned long>>;
skua::task<unsigned long> add_up(sums all) {
  unsigned long sum = 0;
  for (auto& one : all) sum += co_await std::move(one);
  co_return sum;
}

auto mpsc() {
  return skua::mpsc::channel<unsigned long>(places);
}
auto mpmc() {
  return skua::mpmc::channel<unsigned long>(places);
}
auto spsc() {
  return skua::spsc::channel<unsigned long>(places);
}
auto unbounded() {
  return skua::mpsc::unbounded_channel<unsigned long>();
}
auto rendezvous() {
  return skua::mpmc::channel<unsigned long>(0);
}

template <auto Make, int Senders, int Receivers>
skua::task<unsigned long> through(int rounds) {
  auto [tx, rx] = Make();
  sums all;
  all.reserve(Receivers);
  if constexpr (Receivers > 1)
    for (int i = 1; i < Receivers; ++i) all.push_back(skua::spawn(receive(rx)));
  all.push_back(skua::spawn(receive(std::move(rx))));
  if constexpr (Senders > 1)
    for (int i = 1; i < Senders; ++i) skua::spawn(send(tx, rounds / Senders)).detach();
  skua::spawn(send(std::move(tx), rounds / Senders)).detach();
  co_return co_await add_up(std::move(all));
}

skua::task<> answer(skua::oneshot::sender<unsigned long> to, int number) {
  (void)to.send(static_cast<unsigned long>(number));
  co_return;
}
skua::task<unsigned long> oneshots(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) {
    auto [tx, rx] = skua::oneshot::channel<unsigned long>();
    skua::spawn(answer(std::move(tx), i)).detach();
    auto one = co_await std::move(rx);
    sum += one.value_or(0);
  }
  co_return sum;
}

skua::task<unsigned long> follow(skua::watch::receiver<unsigned long> from) {
  unsigned long sum = 0;
  while (co_await from.changed()) sum += *from.borrow();
  co_return sum;
}
skua::task<unsigned long> follow(skua::broadcast::receiver<unsigned long> from) {
  unsigned long sum = 0;
  for (;;) {
    const auto one = co_await from.receive();
    if (one)
      sum += *one;
    else if (one.lagged() == 0)
      break;
  }
  co_return sum;
}

auto watch() {
  return skua::watch::channel<unsigned long>(0);
}
auto broadcast() {
  return skua::broadcast::channel<unsigned long>(places);
}

template <auto Make, int Receivers>
skua::task<unsigned long> announced(int rounds) {
  auto [tx, rx] = Make();
  sums all;
  all.reserve(Receivers);
  for (int i = 1; i < Receivers; ++i) all.push_back(skua::spawn(follow(rx)));
  all.push_back(skua::spawn(follow(std::move(rx))));
  for (int i = 0; i < rounds; ++i) {
    (void)tx.send(static_cast<unsigned long>(i));
    co_await skua::yield();
  }
  {
    const auto gone = std::move(tx);
  }
  co_return co_await add_up(std::move(all));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  const side ring = {"ring", bare};
  flavours::add<through<mpsc, 1, 1>>(all, "mpsc", 300'000, ring);
  flavours::add<through<mpsc, 8, 1>>(all, "mpsc_8_to_1", 300'000, ring);
  flavours::add<through<unbounded, 1, 1>>(all, "unbounded", 300'000, ring);
  flavours::add<through<unbounded, 8, 1>>(all, "unbounded_8_to_1", 300'000, ring);
  flavours::add<through<mpmc, 1, 1>>(all, "mpmc", 300'000, ring);
  flavours::add<through<mpmc, 8, 8>>(all, "mpmc_8_to_8", 300'000, ring);
  flavours::add<through<spsc, 1, 1>>(all, "spsc", 300'000, ring);
  flavours::add<through<rendezvous, 1, 1>>(all, "rendezvous", 100'000, ring);
  flavours::add<through<rendezvous, 8, 8>>(all, "rendezvous_8_to_8", 100'000, ring);
  flavours::add<oneshots>(all, "oneshot", 100'000, ring);
  flavours::add<announced<watch, 1>>(all, "watch", 100'000, ring);
  flavours::add<announced<watch, 8>>(all, "watch_1_to_8", 30'000, ring);
  flavours::add<announced<broadcast, 1>>(all, "broadcast", 100'000, ring);
  flavours::add<announced<broadcast, 8>>(all, "broadcast_1_to_8", 30'000, ring);
  return side_by_side(argc, argv, "message", all);
}
