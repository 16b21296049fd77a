// bench/peers/asio/memory.cpp: what a coroutine costs that waits.
#include "asio/countdown.hpp"
#include "asio/questions.hpp"
#include "asio/start_task.hpp"

#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <list>

namespace {

using channel = asio::experimental::concurrent_channel<void(asio::error_code, std::uint64_t)>;
using counter = std::atomic<std::uint64_t>;

asio::awaitable<void> wait_for(channel& never, counter& waiting) {
  ++waiting;
  co_await never.async_receive(asio::experimental::as_tuple(asio::use_awaitable));
}

/// On one channel for all, or on one for each.
asio::awaitable<void> park(std::uint64_t count, bool one_each, std::uint64_t& bytes) {
  const auto here = co_await asio::this_coro::executor;
  counter waiting = 0;
  countdown ended(count);
  std::list<channel> silent;
  const std::uint64_t before = peers::resident_bytes();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (one_each || silent.empty()) silent.emplace_back(here, 1);
    start_task(here, wait_for(silent.back(), waiting),
               [&](const std::exception_ptr&) { ended.arrive(); });
  }
  while (waiting != count) co_await asio::post(asio::use_awaitable);
  bytes = peers::resident_bytes() - before;
  for (channel& one : silent) one.close();
  co_await ended.wait();
}

template <bool OneEach>
peers::answer measure(const peers::request& asked) {
  const std::uint64_t count = peers::scaled(asked, 1'000'000);
  std::uint64_t bytes = 0;
  run_on_workers(asked.workers, [&] { return park(count, OneEach, bytes); });
  return {"bytes/task", static_cast<double>(bytes) / static_cast<double>(count), count};
}

}  // namespace

void add_memory(questions& to) {
  to.push_back({"memory_parked", measure<false>});
  to.push_back({"memory_parked_channel", measure<true>});
}
