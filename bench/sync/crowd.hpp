// bench/sync/crowd.hpp: many who want the same thing: tasks, and threads to compare them with.
#pragma once

#include "skua/coro/task.hpp"
#include "skua/runtime/spawn.hpp"

#include <thread>
#include <utility>
#include <vector>

/// So many tasks, each of them `Body(wanted, count, rounds / Tasks)`. Gives the count.
template <auto Body, int Tasks, typename Wanted>
skua::task<unsigned long> crowd(Wanted& wanted, int rounds) {
  unsigned long count = 0;
  std::vector<skua::join_handle<void>> all;
  all.reserve(Tasks);
  for (int i = 0; i < Tasks; ++i) all.push_back(skua::spawn(Body(wanted, count, rounds / Tasks)));
  for (auto& one : all) co_await std::move(one);
  co_return count;
}

template <typename Body>
void two_threads(Body body) {
  std::thread one(body);
  std::thread other(body);
  one.join();
  other.join();
}
