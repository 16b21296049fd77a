// bench/peers/asio/timers.cpp: many timers at once, and many that never strike.
#include "asio/countdown.hpp"
#include "asio/questions.hpp"
#include "asio/start_task.hpp"

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>

#include <chrono>
#include <exception>

namespace {

using namespace std::chrono_literals;

asio::awaitable<std::uint64_t> sleeper(std::uint64_t number) {
  asio::steady_timer timer(co_await asio::this_coro::executor,
                           std::chrono::milliseconds(1 + number * 7 % 100));
  co_await timer.async_wait(asio::use_awaitable);
  co_return 1U;
}
asio::awaitable<void> sleeps(std::uint64_t count) {
  const auto here = co_await asio::this_coro::executor;
  std::atomic<std::uint64_t> woken = 0;
  countdown all(count);
  for (std::uint64_t i = 0; i < count; ++i)
    start_task(here, sleeper(i), [&](const std::exception_ptr&, std::uint64_t one) {
      woken += one;
      all.arrive();
    });
  co_await all.wait();
  peers::must_be(woken, count);
}

asio::awaitable<void> timeouts(std::uint64_t count) {
  const auto here = co_await asio::this_coro::executor;
  std::uint64_t in_time = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    asio::steady_timer limit(here, 1h);
    limit.async_wait([](asio::error_code) {});
    co_await asio::post(asio::use_awaitable);
    in_time += limit.cancel();
  }
  peers::must_be(in_time, count);
}

}  // namespace

void add_timers(questions& to) {
  to.push_back(timed("sleeps", 1'000'000, 1, sleeps));
  to.push_back(timed("timeouts", 1'000'000, 1, timeouts));
}
