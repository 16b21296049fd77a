// examples/guide/graceful_shutdown.cpp: the code of docs/guide/graceful-shutdown.md.
#include <skua/skua.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;

// [snippet: handler]
// A quiet client does not hold the end up: between requests the handler listens to `closing`, too.
skua::task<skua::result<void>> answer(net::tcp_stream peer, skua::cancel_token closing) {
  skua::framed lines(peer, skua::framing::lines(4096));
  for (;;) {
    const auto line = co_await skua::or_return(co_await closing.guard(lines.next()));
    if (!line) co_return {};
    const std::string text = std::string(line->text()) + "!\n";
    co_await skua::or_return(co_await peer.write_all(std::as_bytes(std::span(text))));
  }
}
// [end]

// [snippet: server]
skua::task<int> run_server(net::tcp_listener listener) {
  const auto limits = skua::serve_options().max_connections(10'000).drain_time(5s);
  const auto report =
      co_await skua::serve(std::move(listener), answer, limits, skua::shutdown_signal());
  if (!report.has_value()) co_return 1;  // the listener is broken
  const unsigned long long ended = report->succeeded + report->failed;
  std::printf("%llu connections, all ended\n", ended);
  co_return 0;
}
// [end]

// [snippet: program]
// Not a server: asked to end by the token, stopped if it has not ended 5 s later.
skua::task<int> work(skua::cancel_token ends) {
  int rounds = 0;
  while (!ends.is_cancelled()) {
    co_await skua::race(skua::sleep(1ms), ends.wait());
    ++rounds;
  }
  co_return rounds;  // what is begun is finished here
}

skua::task<bool> run_program() {
  const auto rounds = co_await skua::run_until_shutdown(5s, work);
  co_return rounds.has_value();
}
// [end]

skua::task<> ask_once(net::socket_address server, bool& right) {
  auto peer = skua::or_throw(co_await net::tcp_stream::connect(server));
  const std::string text = "hey\n";
  skua::or_throw(co_await peer.write_all(std::as_bytes(std::span(text))));
  std::string heard(5, ' ');
  skua::or_throw(co_await skua::io::read_exactly(peer, std::as_writable_bytes(std::span(heard))));
  std::raise(SIGTERM);  // to ourselves, while the connection is open
  const std::size_t rest =
      skua::or_throw(co_await peer.read(std::as_writable_bytes(std::span(heard))));
  right = heard.substr(0, 4) == "hey!" && rest == 0;
}

skua::task<> end_soon() {
  co_await skua::sleep(5ms);
  std::raise(SIGTERM);
}

skua::task<int> amain() {
  // In this order: after shutdown_signal() has heard of one, the next signal ends the process.
  auto [well, also] = co_await skua::when_all(run_program(), end_soon());
  auto listener = skua::or_throw(net::tcp_listener::bind("127.0.0.1:0"));
  const auto at = skua::or_throw(listener.local_address());
  bool right = false;
  auto [code, unit] = co_await skua::when_all(run_server(std::move(listener)), ask_once(at, right));
  (void)unit;
  (void)also;
  co_return code == 0 && right&& well ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
