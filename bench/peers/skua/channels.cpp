// bench/peers/skua/channels.cpp: messages from some tasks to others.
#include "skua/questions.hpp"

#include <skua/runtime/join_handle.hpp>
#include <skua/runtime/spawn.hpp>
#include <skua/sync/mpmc.hpp>
#include <skua/sync/mpsc.hpp>

#include <utility>

namespace {

constexpr std::size_t places = 64;

skua::task<> send(skua::mpsc::sender<std::uint64_t> to, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) (void)co_await to.send(from + i);
}
skua::task<> send(skua::mpsc::unbounded_sender<std::uint64_t> to, std::uint64_t from,
                  std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) (void)to.send(from + i);
  co_return;
}
template <typename Receiver>
skua::task<std::uint64_t> add_up(Receiver from) {
  std::uint64_t sum = 0;
  while (auto one = co_await from.receive()) sum += *one;
  co_return sum;
}

template <typename Sender>
void spawn_senders(const Sender& to, std::uint64_t count, std::uint64_t senders) {
  const std::uint64_t share = count / senders;
  for (std::uint64_t i = 0; i < senders; ++i) skua::spawn(send(to, i * share, share)).detach();
}

template <std::uint64_t Senders>
skua::task<> mpsc_bounded(std::uint64_t count) {
  auto [tx, rx] = skua::mpsc::channel<std::uint64_t>(places);
  auto sum = skua::spawn(add_up(std::move(rx)));
  spawn_senders(tx, count, Senders);
  {
    const auto gone = std::move(tx);
  }
  peers::must_be(co_await std::move(sum), peers::sum_below(count));
}

template <std::uint64_t Senders>
skua::task<> mpsc_unbounded(std::uint64_t count) {
  auto [tx, rx] = skua::mpsc::unbounded_channel<std::uint64_t>();
  auto sum = skua::spawn(add_up(std::move(rx)));
  spawn_senders(tx, count, Senders);
  {
    const auto gone = std::move(tx);
  }
  peers::must_be(co_await std::move(sum), peers::sum_below(count));
}

skua::task<> mpmc(std::uint64_t count) {
  auto [tx, rx] = skua::mpmc::channel<std::uint64_t>(places);
  std::vector<skua::join_handle<std::uint64_t>> sums;
  sums.reserve(8);
  for (int i = 0; i < 8; ++i) sums.push_back(skua::spawn(add_up(rx)));
  spawn_senders(tx, count, 8);
  {
    const auto gone = std::move(tx);
  }
  std::uint64_t sum = 0;
  for (auto& one : sums) sum += co_await std::move(one);
  peers::must_be(sum, peers::sum_below(count));
}

}  // namespace

void add_channels(questions& to) {
  to.push_back(timed("mpsc_bounded_1", 1'000'000, 8, mpsc_bounded<1>));
  to.push_back(timed("mpsc_bounded_8", 1'000'000, 8, mpsc_bounded<8>));
  to.push_back(timed("mpsc_unbounded_1", 1'000'000, 8, mpsc_unbounded<1>));
  to.push_back(timed("mpsc_unbounded_8", 1'000'000, 8, mpsc_unbounded<8>));
  to.push_back(timed("mpmc_8", 1'000'000, 8, mpmc));
}
