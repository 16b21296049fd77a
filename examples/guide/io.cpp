// examples/guide/io.cpp: the code of docs/guide/io.md.
#include <skua/skua.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;
namespace io = skua::io;

// [snippet: echo]
skua::task<skua::result<void>> echo(net::tcp_stream peer) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const std::size_t n = co_await skua::or_return(co_await skua::timeout(30s, peer.read(buffer)));
    if (n == 0) co_return {};  // the other side has ended
    co_await skua::or_return(co_await peer.write_all(std::span(buffer).first(n)));
  }
}
// [end]

// [snippet: client]
skua::task<skua::result<std::string>> ask(net::socket_address server, std::string_view question) {
  auto peer = co_await skua::or_return(co_await net::tcp_stream::connect(server));
  co_await skua::or_return(co_await peer.write_all(std::as_bytes(std::span(question))));
  co_await skua::or_return(co_await peer.shutdown_write());  // we have said everything
  std::string answer(question.size(), ' ');
  co_await skua::or_return(
      co_await io::read_exactly(peer, std::as_writable_bytes(std::span(answer))));
  co_return answer;
}
// [end]

// [snippet: split]
skua::task<> send_all(io::write_half<io::duplex_stream> to, std::string text) {
  skua::or_throw(co_await io::write_all(to, std::as_bytes(std::span(text))));
  skua::or_throw(co_await to.shutdown_write());
}

skua::task<std::size_t> talk_both_ways(io::duplex_stream stream) {
  auto [reader, writer] = io::split(std::move(stream));
  auto sending = skua::spawn(send_all(std::move(writer), std::string(100'000, 'x')));
  std::array<std::byte, 1024> buffer;
  std::size_t received = 0;
  for (;;) {
    const std::size_t n = skua::or_throw(co_await reader.read(buffer));
    if (n == 0) break;
    received += n;
  }
  co_await std::move(sending);
  co_return received;
}
// [end]

// [snippet: proxy]
skua::task<skua::result<void>> forward(net::tcp_stream client, net::socket_address server) {
  auto there = co_await skua::or_return(co_await net::tcp_stream::connect(server));
  co_await skua::or_return(co_await io::copy_bidirectional(client, there));
  co_return {};
}
// [end]

skua::task<> try_net(bool& right) {
  auto listener = skua::or_throw(net::tcp_listener::bind("127.0.0.1:0"));
  auto front = skua::or_throw(net::tcp_listener::bind("127.0.0.1:0"));
  const auto server = skua::or_throw(listener.local_address());
  const auto proxy = skua::or_throw(front.local_address());
  const auto handler = [server](net::tcp_stream peer) { return forward(std::move(peer), server); };
  const auto question = [&]() -> skua::task<> {
    const auto answer = co_await ask(proxy, "is anybody there?");
    right = answer.has_value() && *answer == "is anybody there?";
  };
  const auto served = [&]() -> skua::task<> {
    co_await skua::serve(front, handler, skua::serve_options(), question());
  };
  co_await skua::serve(listener, echo, skua::serve_options(), served());
}

skua::task<int> amain() {
  bool right = false;
  co_await try_net(right);
  auto [one, other] = io::duplex(4096);
  auto first = skua::spawn(talk_both_ways(std::move(one)));
  const std::size_t here = co_await talk_both_ways(std::move(other));
  const std::size_t there = co_await std::move(first);
  co_return right&& here == 100'000 && there == 100'000 ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
