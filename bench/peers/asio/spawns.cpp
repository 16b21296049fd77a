// bench/peers/asio/spawns.cpp: coroutines that coroutines and foreign threads start.
#include "asio/countdown.hpp"
#include "asio/questions.hpp"
#include "asio/start_task.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/this_coro.hpp>
#include <asio/thread_pool.hpp>

#include <exception>
#include <thread>

namespace {

namespace this_coro = asio::this_coro;

asio::awaitable<std::uint64_t> number(std::uint64_t n) {
  co_return n;
}

/// What each gives is left in a place of its own.
asio::awaitable<void> spawn_join(std::uint64_t count) {
  const auto here = co_await this_coro::executor;
  std::vector<std::uint64_t> results(count);
  countdown all(count);
  for (std::uint64_t i = 0; i < count; ++i)
    start_task(here, number(i), [&, i](const std::exception_ptr&, std::uint64_t one) {
      results[i] = one;
      all.arrive();
    });
  co_await all.wait();
  std::uint64_t sum = 0;
  for (const std::uint64_t one : results) sum += one;
  peers::must_be(sum, peers::sum_below(count));
}

/// co_spawn() begins in place, and others do not.
asio::awaitable<std::uint64_t> number_in_turn(std::uint64_t n) {
  co_await asio::post(asio::use_awaitable);
  co_return n;
}
asio::awaitable<void> spawn_await(std::uint64_t count) {
  const auto here = co_await this_coro::executor;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    sum += co_await asio::co_spawn(here, number_in_turn(i), asio::use_awaitable);
  peers::must_be(sum, peers::sum_below(count));
}

asio::awaitable<void> link(countdown& last, std::uint64_t left) {
  if (left == 0)
    last.arrive();
  else
    start_task(co_await this_coro::executor, link(last, left - 1), asio::detached);
}
asio::awaitable<void> chained_spawn(std::uint64_t count) {
  countdown last(1);
  start_task(co_await this_coro::executor, link(last, count - 1), asio::detached);
  co_await last.wait();
}

asio::awaitable<void> arrive(countdown& last) {
  last.arrive();
  co_return;
}
template <int Threads>
asio::awaitable<void> foreign_spawn(std::uint64_t count) {
  const auto here = co_await this_coro::executor;
  countdown last(count);
  std::vector<std::jthread> threads;
  threads.reserve(Threads);
  for (int i = 0; i < Threads; ++i)
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < count / Threads; ++n)
        start_task(here, arrive(last), asio::detached);
    });
  co_await last.wait();
}

/// Asio has no pool for calls that block: a thread_pool stands in.
asio::awaitable<void> calls(std::uint64_t count) {
  asio::thread_pool pool(1);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    sum += co_await asio::co_spawn(pool, number(i), asio::use_awaitable);
  peers::must_be(sum, peers::sum_below(count));
}

}  // namespace

void add_spawns(questions& to) {
  to.push_back(timed("spawn_join", 1'000'000, 1, spawn_join));
  to.push_back(timed("spawn_await", 200'000, 1, spawn_await));
  to.push_back(timed("chained_spawn", 1'000'000, 1, chained_spawn));
  to.push_back(timed("foreign_spawn_1", 400'000, 4, foreign_spawn<1>));
  to.push_back(timed("foreign_spawn_2", 400'000, 4, foreign_spawn<2>));
  to.push_back(timed("foreign_spawn_4", 400'000, 4, foreign_spawn<4>));
  to.push_back(timed("spawn_blocking", 20'000, 1, calls));
}
