// bench/peers/skua/foreign_spawns.cpp: tasks that come from threads outside the runtime.
#include "skua/questions.hpp"

#include <skua/runtime/spawn.hpp>
#include <skua/sync/event.hpp>

#include <atomic>
#include <thread>

namespace {

skua::task<> arrive(std::atomic<std::uint64_t>& left, skua::event& last) {
  if (--left == 0) last.set();
  co_return;
}

template <int Threads>
skua::task<> foreign_spawn(std::uint64_t count) {
  std::atomic<std::uint64_t> left = count;
  skua::event last;
  const auto here = skua::runtime_handle::current();
  std::vector<std::jthread> threads;
  threads.reserve(Threads);
  for (int i = 0; i < Threads; ++i)
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < count / Threads; ++n) here.spawn(arrive(left, last)).detach();
    });
  co_await last.wait();
  peers::must_be(left, 0);
}

}  // namespace

void add_foreign_spawns(questions& to) {
  to.push_back(timed("foreign_spawn_1", 400'000, 4, foreign_spawn<1>));
  to.push_back(timed("foreign_spawn_2", 400'000, 4, foreign_spawn<2>));
  to.push_back(timed("foreign_spawn_4", 400'000, 4, foreign_spawn<4>));
}
