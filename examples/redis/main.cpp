// examples/redis/main.cpp: a key-value server that clients of Redis can talk to; tries itself.
#include "session.hpp"
#include "tour.hpp"

#include <skua/skua.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;

// Keys that nobody asks for any more. A little at a time: others want the lock, too.
skua::task<> sweep(redis::database& shared) {
  skua::interval tick(100ms, skua::missed_ticks::skip);
  for (;;) {
    co_await tick.next();
    auto held = co_await shared.keys.lock();
    held->sweep(skua::now(), 1000);
  }
}

skua::task<int> amain(std::string address) {
  const bool tries_itself = address.empty();
  auto listener =
      skua::or_throw(net::tcp_listener::bind(tries_itself ? "127.0.0.1:0" : address), "bind");
  const auto at = skua::or_throw(listener.local_address());
  std::printf("redis at %s\n", at.to_string().c_str());
  std::fflush(stdout);  // also if it goes to a pipe
  redis::database shared;
  auto handler = [&shared](net::tcp_stream peer, skua::cancel_token closing) {
    return redis::talk(std::move(peer), std::move(closing), shared);
  };
  const auto limits = skua::serve_options().max_connections(10'000).drain_time(5s);
  if (!tries_itself) {
    const auto end = co_await skua::select(
        skua::serve(std::move(listener), handler, limits, skua::shutdown_signal()), sweep(shared));
    co_return end.is<0>() && end.get<0>()->has_value() ? 0 : 1;  // 1: the listener is broken
  }
  bool right = false;
  co_await skua::select(skua::serve(std::move(listener), handler, limits, redis::tour(at, right)),
                        sweep(shared));
  co_return right ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  return skua::run(amain(count > 1 ? arguments[1] : ""));
}
