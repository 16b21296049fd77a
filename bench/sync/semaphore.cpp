// bench/sync/semaphore.cpp: the cost of a permit, with nobody in the way and with others.
//
// A round is one permit taken and given back by a task. "alone": nobody else wants it; baseline:
// the two read-modify-writes that this takes at least, bare. "two", "hundred": so many tasks
// and one permit; baseline: two threads and a std::counting_semaphore. Time: run without arguments.
// Instructions:
//   tools/instructions.py --only alone.current_thread build/release/bench/bench.sync.semaphore
#include "skua/sync/semaphore.hpp"

#include "runtime/flavours.hpp"
#include "support/side_by_side.hpp"
#include "sync/crowd.hpp"

#include <atomic>
#include <cstdint>
#include <semaphore>
#include <vector>

namespace {

skua::task<> takes_turns(skua::semaphore& limit, unsigned long& count, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const auto held = co_await limit.acquire();
    if (held) ++count;
  }
}

skua::task<unsigned long> alone(int rounds) {
  skua::semaphore limit(1);
  unsigned long count = 0;
  co_await takes_turns(limit, count, rounds);
  co_return count;
}
unsigned long bare(int rounds) {
  static std::atomic<std::uint32_t> word = 1;
  unsigned long count = 0;
  for (int i = 0; i < rounds; ++i) {
    // order: [bench.semaphore] acquire, as who takes a permit has it.
    count += word.fetch_sub(1, std::memory_order_acquire);
    // order: [bench.semaphore] release, as who gives one back has it.
    word.fetch_add(1, std::memory_order_release);
  }
  return count;
}

template <int Tasks>
skua::task<unsigned long> together(int rounds) {
  skua::semaphore limit(1);
  co_return co_await crowd<takes_turns, Tasks>(limit, rounds);
}
unsigned long threads(int rounds) {
  std::counting_semaphore<> limit(1);
  unsigned long count = 0;
  two_threads([&] {
    for (int i = 0; i < rounds / 2; ++i) {
      limit.acquire();
      ++count;
      limit.release();
    }
  });
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<alone>(all, "alone", 300'000, {"bare", bare});
  const side both = {"std::counting_semaphore", threads};
  flavours::add<together<2>>(all, "two", 100'000, both);
  flavours::add<together<100>>(all, "hundred", 1'000'000, both);
  return side_by_side(argc, argv, "semaphore", all);
}
