// examples/udp_ping.cpp: measures round trips of datagrams; lost ones are given up after a while.
#include <skua/skua.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace net = skua::net;

skua::task<skua::result<void>> reflect(net::udp_socket& socket) {
  std::array<std::byte, 1500> buffer;
  for (;;) {
    const auto got = co_await skua::or_return(co_await socket.recv_from(buffer));
    if (got.truncated()) continue;
    co_await skua::or_return(
        co_await socket.send_to(std::span(buffer).first(got.size()), got.from()));
  }
}

// Waits for the answer to number `expected`; late ones to others are ignored.
skua::task<skua::result<void>> answer_to(net::udp_socket& socket, std::uint32_t expected) {
  std::uint32_t number = 0;
  do {
    co_await skua::or_return(co_await socket.recv(std::as_writable_bytes(std::span(&number, 1))));
  } while (number != expected);
  co_return {};
}

skua::task<skua::result<int>> ping(net::socket_address target, std::uint32_t times) {
  auto socket = co_await skua::or_return(net::udp_socket::bind("127.0.0.1:0"));
  co_await skua::or_return(socket.connect(target));
  int answered = 0;
  for (std::uint32_t number = 0; number < times; ++number) {
    const skua::instant sent = skua::now();
    co_await skua::or_return(co_await socket.send(std::as_bytes(std::span(&number, 1))));
    const auto back = co_await skua::timeout(10s, answer_to(socket, number));
    if (!back.has_value()) {
      std::printf("%u: %s\n", number, back.error().message().c_str());
      continue;
    }
    ++answered;
    const auto took = (skua::now() - sent).to<std::chrono::microseconds>();
    std::printf("%u: %lld us\n", number, static_cast<long long>(took.count()));
  }
  co_return answered;
}

skua::task<int> amain() {
  auto mirror = skua::or_throw(net::udp_socket::bind("127.0.0.1:0"), "bind");
  const auto at = skua::or_throw(mirror.local_address());
  // The mirror never ends by itself; when the pings are over it is stopped.
  auto first = co_await skua::select(ping(at, 5), reflect(mirror));
  const auto* const answered = first.get<0>();
  const bool all = answered != nullptr && answered->has_value() && **answered == 5;
  std::puts(all ? "all answered" : "some were lost");
  co_return all ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}
