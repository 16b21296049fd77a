// bench/peers/floors/questions.cpp: what remains of a question if nothing can go wrong.
#include "floors/questions.hpp"

#include "floors/bare_task.hpp"

#include <vector>

namespace {

using floors::bare_task;
using floors::ready_queue;

// Kept as calls, or nothing would be left to measure.
[[gnu::noinline]] bare_task number(std::uint64_t n) {
  co_return n;
}
[[gnu::noinline]] bare_task gives_way(ready_queue& ready, std::uint64_t times) {
  std::uint64_t turns = 0;
  for (; turns < times; ++turns) co_await floors::give_way(ready);
  co_return turns;
}

void spawn_join(std::uint64_t count) {
  ready_queue ready;
  std::vector<bare_task> all;
  all.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    all.push_back(number(i));
    ready.push_back(all.back().handle());
  }
  floors::run_all(ready);
  std::uint64_t sum = 0;
  for (const bare_task& one : all) sum += one.value();
  peers::must_be(sum, peers::sum_below(count));
}

void spawn_await(std::uint64_t count) {
  ready_queue ready;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const bare_task one = number(i);
    ready.push_back(one.handle());
    floors::run_all(ready);
    sum += one.value();
  }
  peers::must_be(sum, peers::sum_below(count));
}

template <std::uint64_t Crowd>
void yield(std::uint64_t count) {
  ready_queue ready;
  std::vector<bare_task> all;
  all.reserve(Crowd);
  for (std::uint64_t i = 0; i < Crowd; ++i) {
    all.push_back(gives_way(ready, count / Crowd));
    ready.push_back(all.back().handle());
  }
  floors::run_all(ready);
  std::uint64_t sum = 0;
  for (const bare_task& one : all) sum += one.value();
  peers::must_be(sum, count);
}

template <auto Body, std::uint64_t Full, std::uint64_t Multiple>
peers::answer timed(const peers::request& asked) {
  const std::uint64_t count = peers::scaled(asked, Full, Multiple);
  Body(count);  // to warm up
  const std::int64_t begun = peers::now();
  Body(count);
  return peers::per_operation(peers::now() - begun, count);
}

peers::answer serve_echo(const peers::request& asked) {
  if (asked.order == "epoll")
    serve_echo_by_epoll(asked.buffer);
  else
    serve_echo_by_uring(asked.buffer);
  return {};
}
peers::answer close_server(const peers::request&) {
  serve_close();
  return {};
}

}  // namespace

std::vector<peers::question> peers::all_questions() {
  return {{"spawn_join", timed<spawn_join, 1'000'000, 1>},
          {"spawn_await", timed<spawn_await, 200'000, 1>},
          {"yield_one", timed<yield<1>, 1'000'000, 1>},
          {"yield_many", timed<yield<1'000>, 1'000'000, 1'000>},
          {"echo_server", serve_echo},
          {"close_server", close_server},
          {"connect_and_close", connect_and_close}};
}
