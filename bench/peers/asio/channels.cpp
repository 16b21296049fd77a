// bench/peers/asio/channels.cpp: messages from some coroutines to others.
#include "asio/countdown.hpp"
#include "asio/questions.hpp"
#include "asio/start_task.hpp"

#include <asio/experimental/concurrent_channel.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <limits>

namespace {

constexpr std::size_t places = 64;
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

using channel = asio::experimental::concurrent_channel<void(asio::error_code, std::uint64_t)>;

asio::awaitable<void> send(channel& to, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    co_await to.async_send(asio::error_code(), from + i, asio::use_awaitable);
}
asio::awaitable<void> send_at_once(channel& to, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) to.try_send(asio::error_code(), from + i);
  co_return;
}
asio::awaitable<void> add_up(channel& from, std::uint64_t count, std::atomic<std::uint64_t>& to) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += co_await from.async_receive(asio::use_awaitable);
  to += sum;
}

struct shape {
  std::uint64_t senders;
  std::uint64_t receivers;
  std::size_t capacity;
};

template <shape Shape>
asio::awaitable<void> through(std::uint64_t count) {
  const auto here = co_await asio::this_coro::executor;
  channel between(here, Shape.capacity);
  std::atomic<std::uint64_t> sum = 0;
  countdown all(Shape.senders + Shape.receivers);
  const auto ended = [&](const std::exception_ptr&) { all.arrive(); };
  for (std::uint64_t i = 0; i < Shape.receivers; ++i)
    start_task(here, add_up(between, count / Shape.receivers, sum), ended);
  const std::uint64_t share = count / Shape.senders;
  for (std::uint64_t i = 0; i < Shape.senders; ++i)
    asio::co_spawn(
        here, (Shape.capacity == no_limit ? send_at_once : send)(between, i * share, share), ended);
  co_await all.wait();
  peers::must_be(sum, peers::sum_below(count));
}

asio::awaitable<void> partner(channel& in, channel& out, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t one = co_await in.async_receive(asio::use_awaitable);
    co_await out.async_send(asio::error_code(), one, asio::use_awaitable);
  }
}
asio::awaitable<void> ping_pong(std::uint64_t count) {
  const auto here = co_await asio::this_coro::executor;
  channel ping(here, 1);
  channel pong(here, 1);
  countdown ended(1);
  start_task(here, partner(ping, pong, count), [&](const std::exception_ptr&) { ended.arrive(); });
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    co_await ping.async_send(asio::error_code(), i, asio::use_awaitable);
    sum += co_await pong.async_receive(asio::use_awaitable);
  }
  co_await ended.wait();
  peers::must_be(sum, peers::sum_below(count));
}

}  // namespace

void add_channels(questions& to) {
  to.push_back(timed("ping_pong_channel", 100'000, 1, ping_pong));
  to.push_back(timed("mpsc_bounded_1", 1'000'000, 8, through<shape{1, 1, places}>));
  to.push_back(timed("mpsc_bounded_8", 1'000'000, 8, through<shape{8, 1, places}>));
  to.push_back(timed("mpsc_unbounded_1", 1'000'000, 8, through<shape{1, 1, no_limit}>));
  to.push_back(timed("mpsc_unbounded_8", 1'000'000, 8, through<shape{8, 1, no_limit}>));
  to.push_back(timed("mpmc_8", 1'000'000, 8, through<shape{8, 8, places}>));
}
