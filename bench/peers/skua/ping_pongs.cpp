// bench/peers/skua/ping_pongs.cpp: two tasks of which always one waits for the other.
#include "skua/questions.hpp"

#include <skua/runtime/join_handle.hpp>
#include <skua/runtime/spawn.hpp>
#include <skua/sync/mpsc.hpp>
#include <skua/sync/notify.hpp>
#include <skua/sync/oneshot.hpp>

#include <utility>

namespace {

using sender = skua::mpsc::sender<std::uint64_t>;
using receiver = skua::mpsc::receiver<std::uint64_t>;

skua::task<> channel_partner(receiver in, sender out) {
  while (auto one = co_await in.receive()) (void)co_await out.send(*one);
}
skua::task<> channel_ping_pong(std::uint64_t count) {
  auto [ping, pinged] = skua::mpsc::channel<std::uint64_t>(1);
  auto [pong, ponged] = skua::mpsc::channel<std::uint64_t>(1);
  auto partner = skua::spawn(channel_partner(std::move(pinged), std::move(pong)));
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    (void)co_await ping.send(i);
    sum += (co_await ponged.receive()).value_or(0);
  }
  peers::must_be(sum, peers::sum_below(count));
  {
    const auto gone = std::move(ping);
  }
  co_await std::move(partner);
}

skua::task<> notify_partner(skua::notify& ping, skua::notify& pong, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    co_await ping.wait();
    pong.notify_one();
  }
}
skua::task<> notify_ping_pong(std::uint64_t count) {
  skua::notify ping;
  skua::notify pong;
  auto partner = skua::spawn(notify_partner(ping, pong, count));
  for (std::uint64_t i = 0; i < count; ++i) {
    ping.notify_one();
    co_await pong.wait();
  }
  co_await std::move(partner);
}

/// Each message brings the channel for its answer.
struct ball {
  std::uint64_t number;
  skua::oneshot::sender<ball> back;
};
skua::task<> oneshot_partner(skua::oneshot::receiver<ball> in) {
  for (;;) {
    auto came = co_await in.receive();
    if (!came) co_return;
    auto [next, answered] = skua::oneshot::channel<ball>();
    (void)came->back.send({came->number, std::move(next)});
    in = std::move(answered);
  }
}
skua::task<> oneshot_ping_pong(std::uint64_t count) {
  auto [out, in] = skua::oneshot::channel<ball>();
  auto partner = skua::spawn(oneshot_partner(std::move(in)));
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto [back, answered] = skua::oneshot::channel<ball>();
    (void)out.send({i, std::move(back)});
    auto came = co_await answered.receive();
    if (!came) break;  // the sum is wrong then
    sum += came->number;
    out = std::move(came->back);
  }
  peers::must_be(sum, peers::sum_below(count));
  {
    const auto gone = std::move(out);
  }
  co_await std::move(partner);
}

}  // namespace

void add_ping_pongs(questions& to) {
  to.push_back(timed("ping_pong_channel", 100'000, 1, channel_ping_pong));
  to.push_back(timed("ping_pong_notify", 100'000, 1, notify_ping_pong));
  to.push_back(timed("ping_pong_oneshot", 100'000, 1, oneshot_ping_pong));
}
