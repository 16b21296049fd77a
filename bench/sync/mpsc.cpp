// bench/sync/mpsc.cpp: the cost of a message through a channel.
//
// A round is one message, a number, through a bounded channel with 64 places, from one task to
// another or from eight to one; "mpmc" from eight to eight. Baseline: a push and a pop at a bare
// ring of 64 places (bare_ring.hpp) by one thread, without tasks, waiting or handles: what remains
// of a channel if nothing can go wrong. The promise is six times that for "one" on one worker.
// Time: run without arguments. Instructions:
//   tools/instructions.py --only one.1_worker build/release/bench/bench.sync.mpsc
#include "skua/sync/mpsc.hpp"
#include "runtime/flavours.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/sync/broadcast.hpp"
#include "skua/sync/mpmc.hpp"
#include "skua/sync/oneshot.hpp"
#include "skua/sync/spsc.hpp"
#include "skua/sync/watch.hpp"
#include "support/side_by_side.hpp"
#include "sync/bare_ring.hpp"

#include <utility>
#include <vector>

namespace {

constexpr std::size_t places = 64;
constexpr int crowd = 8;

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

skua::task<> send(skua::mpsc::sender<unsigned long> to, int rounds) {
  for (int i = 0; i < rounds; ++i) (void)co_await to.send(static_cast<unsigned long>(i));
}
skua::task<> send_alone(skua::spsc::sender<unsigned long> to, int rounds) {
  for (int i = 0; i < rounds; ++i) (void)co_await to.send(static_cast<unsigned long>(i));
}
template <typename Receiver>
skua::task<unsigned long> receive(Receiver from) {
  unsigned long sum = 0;
  while (auto one = co_await from.receive()) sum += *one;
  co_return sum;
}

template <int Senders>
skua::task<unsigned long> through_mpsc(int rounds) {
  auto [tx, rx] = skua::mpsc::channel<unsigned long>(places);
  for (int i = 0; i < Senders; ++i) skua::spawn(send(tx, rounds / Senders)).detach();
  {
    const auto gone = std::move(tx);
  }
  co_return co_await receive(std::move(rx));
}

skua::task<unsigned long> through_spsc(int rounds) {
  auto [tx, rx] = skua::spsc::channel<unsigned long>(places);
  skua::spawn(send_alone(std::move(tx), rounds)).detach();
  co_return co_await receive(std::move(rx));
}

skua::task<unsigned long> through_unbounded(int rounds) {
  auto [tx, rx] = skua::mpsc::unbounded_channel<unsigned long>();
  auto all = skua::spawn(receive(std::move(rx)));
  for (int i = 0; i < rounds; ++i) {
    (void)tx.send(static_cast<unsigned long>(i));
    co_await skua::consume_budget();
  }
  {
    const auto gone = std::move(tx);
  }
  co_return co_await std::move(all);
}

skua::task<unsigned long> through_mpmc(int rounds) {
  auto [tx, rx] = skua::mpmc::channel<unsigned long>(places);
  std::vector<skua::join_handle<unsigned long>> all;
  all.reserve(crowd);
  for (int i = 0; i < crowd; ++i) all.push_back(skua::spawn(receive(rx)));
  for (int i = 0; i < crowd; ++i) skua::spawn(send(tx, rounds / crowd)).detach();
  {
    const auto gone = std::move(tx);
  }
  unsigned long sum = 0;
  for (auto& one : all) sum += co_await std::move(one);
  co_return sum;
}

skua::task<unsigned long> through_rendezvous(int rounds) {
  auto [tx, rx] = skua::mpsc::channel<unsigned long>(0);
  skua::spawn(send(std::move(tx), rounds)).detach();
  co_return co_await receive(std::move(rx));
}

skua::task<> answer(skua::oneshot::sender<unsigned long> to, int number) {
  (void)to.send(static_cast<unsigned long>(number));
  co_return;
}
// The channel and the task that answers are new in each round.
skua::task<unsigned long> through_oneshots(int rounds) {
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
skua::task<unsigned long> through_watch(int rounds) {
  auto [tx, rx] = skua::watch::channel<unsigned long>(0);
  auto all = skua::spawn(follow(std::move(rx)));
  for (int i = 0; i < rounds; ++i) {
    tx.send(static_cast<unsigned long>(i));
    co_await skua::yield();
  }
  {
    const auto gone = std::move(tx);
  }
  co_return co_await std::move(all);
}

skua::task<unsigned long> listen(skua::broadcast::receiver<unsigned long> from) {
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
template <int Receivers>
skua::task<unsigned long> through_broadcast(int rounds) {
  auto [tx, rx] = skua::broadcast::channel<unsigned long>(places);
  std::vector<skua::join_handle<unsigned long>> all;
  all.reserve(Receivers);
  for (int i = 0; i < Receivers; ++i) all.push_back(skua::spawn(listen(rx)));
  {
    const auto gone = std::move(rx);
  }
  for (int i = 0; i < rounds; ++i) {
    tx.send(static_cast<unsigned long>(i));
    if (i % 32 == 0) co_await skua::yield();
  }
  {
    const auto gone = std::move(tx);
  }
  unsigned long sum = 0;
  for (auto& one : all) sum += co_await std::move(one);
  co_return sum;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  const side ring = {"ring", bare};
  flavours::add<through_mpsc<1>>(all, "one", 300'000, ring);
  flavours::add<through_mpsc<crowd>>(all, "eight_to_one", 300'000, ring);
  flavours::add<through_spsc>(all, "spsc", 300'000, ring);
  flavours::add<through_unbounded>(all, "unbounded", 300'000, ring);
  flavours::add<through_mpmc>(all, "mpmc", 300'000, ring);
  flavours::add<through_rendezvous>(all, "rendezvous", 100'000, ring);
  flavours::add<through_oneshots>(all, "oneshot", 100'000, ring);
  flavours::add<through_watch>(all, "watch", 100'000, ring);
  flavours::add<through_broadcast<1>>(all, "broadcast", 100'000, ring);
  flavours::add<through_broadcast<crowd>>(all, "broadcast_to_eight", 100'000, ring);
  return side_by_side(argc, argv, "message", all);
}
