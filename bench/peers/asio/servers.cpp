// bench/peers/asio/servers.cpp: servers that others put under load.
#include "asio/questions.hpp"
#include "asio/start_task.hpp"

#include <asio/buffer.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <utility>

namespace {

using asio::ip::tcp;
constexpr auto as_values = asio::experimental::as_tuple(asio::use_awaitable);

asio::awaitable<void> echo(tcp::socket peer, std::size_t size) {
  peer.set_option(tcp::no_delay(true));
  std::vector<char> buffer(size);
  for (;;) {
    const auto [failed, got] = co_await peer.async_read_some(asio::buffer(buffer), as_values);
    if (failed) co_return;
    const auto [lost, sent] =
        co_await asio::async_write(peer, asio::buffer(buffer, got), as_values);
    if (lost) co_return;
  }
}

/// Takes no account of anybody.
asio::awaitable<void> hog() {
  for (std::uint64_t i = 0;; ++i) asm volatile("" : : "r"(i));
  co_return;
}

tcp::acceptor listen(const asio::any_io_executor& here) {
  tcp::acceptor listener(here, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  listener.listen(4'096);
  peers::say_port(listener.local_endpoint().port());
  return listener;
}

asio::awaitable<void> serve_echo(const peers::request& asked) {
  const auto here = co_await asio::this_coro::executor;
  auto listener = listen(here);
  if (asked.hog) start_task(here, hog(), asio::detached);
  for (;;) {
    auto [failed, peer] = co_await listener.async_accept(as_values);
    if (!failed) start_task(here, echo(std::move(peer), asked.buffer), asio::detached);
  }
}

asio::awaitable<void> serve_close(const peers::request&) {
  auto listener = listen(co_await asio::this_coro::executor);
  for (;;) {
    auto [failed, peer] = co_await listener.async_accept(as_values);
    if (!failed) peer.close();
  }
}

/// Until it is killed.
template <auto Serve>
peers::answer serve(const peers::request& asked) {
  run_on_workers(asked.workers, [&] { return Serve(asked); });
  return {};
}

}  // namespace

void add_servers(questions& to) {
  to.push_back({"echo_server", serve<serve_echo>});
  to.push_back({"close_server", serve<serve_close>});
}
