// bench/peers/asio/yields.cpp: coroutines that give way.
#include "asio/countdown.hpp"
#include "asio/questions.hpp"
#include "asio/start_task.hpp"

#include <asio/post.hpp>
#include <asio/this_coro.hpp>

#include <exception>

namespace {

constexpr std::uint64_t crowd = 1'000;

asio::awaitable<std::uint64_t> gives_way(std::uint64_t times) {
  std::uint64_t turns = 0;
  for (; turns < times; ++turns) co_await asio::post(asio::use_awaitable);
  co_return turns;
}

asio::awaitable<void> yield_one(std::uint64_t count) {
  peers::must_be(co_await gives_way(count), count);
}

asio::awaitable<void> yield_many(std::uint64_t count) {
  const auto here = co_await asio::this_coro::executor;
  std::atomic<std::uint64_t> sum = 0;
  countdown all(crowd);
  for (std::uint64_t i = 0; i < crowd; ++i)
    start_task(here, gives_way(count / crowd), [&](const std::exception_ptr&, std::uint64_t turns) {
      sum += turns;
      all.arrive();
    });
  co_await all.wait();
  peers::must_be(sum, count);
}

}  // namespace

void add_yields(questions& to) {
  to.push_back(timed("yield_one", 1'000'000, 1, yield_one));
  to.push_back(timed("yield_many", 1'000'000, crowd, yield_many));
}
