// examples/echo.cpp: a server with limits and a graceful end; without arguments it tries itself.
#include <skua/skua.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;

skua::task<skua::result<void>> echo(net::tcp_stream peer) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const std::size_t n = co_await skua::or_return(co_await skua::timeout(30s, peer.read(buffer)));
    if (n == 0) co_return {};
    co_await skua::or_return(co_await peer.write_all(std::span(buffer).first(n)));
  }
}

skua::task<skua::result<std::string>> ask(net::socket_address server, std::string_view question) {
  auto peer = co_await skua::or_return(co_await net::tcp_stream::connect(server));
  co_await skua::or_return(co_await peer.write_all(std::as_bytes(std::span(question))));
  co_await skua::or_return(co_await peer.shutdown_write());
  std::string answer;
  std::array<char, 256> buffer;
  for (;;) {
    const std::size_t n =
        co_await skua::or_return(co_await peer.read(std::as_writable_bytes(std::span(buffer))));
    if (n == 0) co_return answer;
    answer.append(buffer.data(), n);
  }
}

// Ends when its questions were answered, and so does the server.
skua::task<> try_it(net::socket_address server, int& right) {
  for (const std::string_view word : {"once", "more", "with feeling"}) {
    const auto answer = co_await ask(server, word);
    if (answer.has_value() && *answer == word) ++right;
  }
}

skua::task<int> amain(std::string address) {
  const bool tries_itself = address.empty();
  auto listener =
      skua::or_throw(net::tcp_listener::bind(tries_itself ? "127.0.0.1:0" : address), "bind");
  const auto at = skua::or_throw(listener.local_address());
  std::printf("echo at %s\n", at.to_string().c_str());
  std::fflush(stdout);  // also if it goes to a pipe
  const auto limits = skua::serve_options().max_connections(10'000).drain_time(5s);
  if (!tries_itself) {
    const auto end =
        co_await skua::serve(std::move(listener), echo, limits, skua::shutdown_signal());
    co_return end.has_value() ? 0 : 1;  // 1: the listener is broken
  }
  int right = 0;
  const auto report =
      skua::or_throw(co_await skua::serve(listener, echo, limits, try_it(at, right)));
  std::printf("%llu connections served, %d answers right\n",
              static_cast<unsigned long long>(report.succeeded), right);
  co_return right == 3 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  return skua::run(amain(count > 1 ? arguments[1] : ""));
}
