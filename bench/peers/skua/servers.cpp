// bench/peers/skua/servers.cpp: servers that others put under load.
#include "skua/questions.hpp"

#include <skua/base/error.hpp>
#include <skua/net/tcp_listener.hpp>
#include <skua/net/tcp_stream.hpp>
#include <skua/runtime/spawn.hpp>

#include <span>
#include <utility>

namespace {

namespace net = skua::net;

skua::task<> echo(net::tcp_stream peer, std::size_t size) {
  std::vector<std::byte> buffer(size);
  for (;;) {
    const auto got = co_await peer.read(buffer);
    if (!got || *got == 0) co_return;
    if (!co_await peer.write_all(std::span(buffer).first(*got))) co_return;
  }
}

/// Takes no account of anybody.
skua::task<> hog() {
  for (std::uint64_t i = 0;; ++i) asm volatile("" : : "r"(i));
  co_return;
}

net::tcp_listener listen() {
  const auto how = net::listen_options().nodelay(true).backlog(4'096);
  auto listener = skua::or_throw(net::tcp_listener::bind("127.0.0.1:0", how));
  peers::say_port(skua::or_throw(listener.local_address()).port());
  return listener;
}

skua::task<> serve_echo(const peers::request& asked) {
  auto listener = listen();
  if (asked.hog) skua::spawn(hog()).detach();
  for (;;) {
    auto peer = co_await listener.accept();
    if (peer) skua::spawn(echo(std::move(*peer), asked.buffer)).detach();
  }
}

skua::task<> serve_close(const peers::request&) {
  auto listener = listen();
  for (;;) {
    auto peer = co_await listener.accept();
    if (peer) (void)co_await peer->close();
  }
}

/// Until it is killed.
template <auto Serve>
peers::answer serve(const peers::request& asked) {
  skua::runtime here = start_runtime(asked);
  here.block_on(Serve(asked));
  return {};
}

}  // namespace

void add_servers(questions& to) {
  to.push_back({"echo_server", serve<serve_echo>});
  to.push_back({"close_server", serve<serve_close>});
}
