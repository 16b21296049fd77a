// examples/tcp_proxy.cpp: passes connections on to another server; half-closed ones stay half open.
#include <skua/skua.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;

// Copies both ways; when one side has ended, the other may still go on.
skua::task<skua::result<void>> join(net::tcp_stream client, net::socket_address target) {
  auto server =
      co_await skua::or_return(co_await skua::timeout(10s, net::tcp_stream::connect(target)));
  const auto copied =
      co_await skua::or_return(co_await skua::io::copy_bidirectional(client, server));
  std::printf("%llu bytes there, %llu back\n", static_cast<unsigned long long>(copied.forth()),
              static_cast<unsigned long long>(copied.back()));
  co_return {};
}

// --- something to pass on to, and somebody who asks through the proxy

skua::task<skua::result<void>> shout(net::tcp_stream peer) {
  std::string all;
  std::array<char, 256> buffer;
  for (;;) {
    const std::size_t n =
        co_await skua::or_return(co_await peer.read(std::as_writable_bytes(std::span(buffer))));
    if (n == 0) break;
    all.append(buffer.data(), n);
  }
  all += "!";
  co_return co_await peer.write_all(std::as_bytes(std::span(all)));
}

skua::task<> try_it(net::socket_address proxy, std::string& answer) {
  auto peer = skua::or_throw(co_await net::tcp_stream::connect(proxy));
  constexpr std::string_view question = "through and back";
  skua::or_throw(co_await peer.write_all(std::as_bytes(std::span(question))));
  skua::or_throw(co_await peer.shutdown_write());  // the answer comes after that
  std::array<char, 256> buffer;
  for (;;) {
    const std::size_t n =
        skua::or_throw(co_await peer.read(std::as_writable_bytes(std::span(buffer))));
    if (n == 0) co_return;
    answer.append(buffer.data(), n);
  }
}

skua::task<int> try_yourself() {
  auto target = skua::or_throw(net::tcp_listener::bind("127.0.0.1:0"));
  auto proxy = skua::or_throw(net::tcp_listener::bind("127.0.0.1:0"));
  const auto target_at = skua::or_throw(target.local_address());
  const auto proxy_at = skua::or_throw(proxy.local_address());
  auto passes_on = [target_at](net::tcp_stream client) {
    return join(std::move(client), target_at);
  };
  std::string answer;
  auto both = skua::serve(proxy, passes_on, skua::serve_options(), try_it(proxy_at, answer));
  co_await skua::serve(target, shout, skua::serve_options(), std::move(both));
  std::printf("%s\n", answer.c_str());
  co_return answer == "through and back!" ? 0 : 1;
}

skua::task<int> amain(std::string from, std::string to) {
  auto listener = skua::or_throw(net::tcp_listener::bind(from), "bind");
  const auto target = skua::or_throw(net::socket_address::parse(to), "target");
  auto passes_on = [target](net::tcp_stream client) { return join(std::move(client), target); };
  co_await skua::serve(listener, passes_on);
  co_return 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3) return skua::run(amain(arguments[1], arguments[2]));
  return skua::run(try_yourself());
}
