// bench/peers/skua/spawns.cpp: tasks that tasks start.
#include "skua/questions.hpp"

#include <skua/runtime/join_handle.hpp>
#include <skua/runtime/spawn.hpp>
#include <skua/sync/event.hpp>

#include <utility>

namespace {

skua::task<std::uint64_t> number(std::uint64_t n) {
  co_return n;
}

skua::task<> spawn_join(std::uint64_t count) {
  std::vector<skua::join_handle<std::uint64_t>> all;
  all.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(skua::spawn(number(i)));
  std::uint64_t sum = 0;
  for (auto& one : all) sum += co_await std::move(one);
  peers::must_be(sum, peers::sum_below(count));
}

skua::task<> spawn_await(std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += co_await skua::spawn(number(i));
  peers::must_be(sum, peers::sum_below(count));
}

skua::task<> link(skua::event& last, std::uint64_t left) {
  if (left == 0)
    last.set();
  else
    skua::spawn(link(last, left - 1)).detach();
  co_return;
}
skua::task<> chained_spawn(std::uint64_t count) {
  skua::event last;
  skua::spawn(link(last, count - 1)).detach();
  co_await last.wait();
}

}  // namespace

void add_spawns(questions& to) {
  to.push_back(timed("spawn_join", 1'000'000, 1, spawn_join));
  to.push_back(timed("spawn_await", 200'000, 1, spawn_await));
  to.push_back(timed("chained_spawn", 1'000'000, 1, chained_spawn));
}
