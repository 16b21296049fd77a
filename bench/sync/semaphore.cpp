// bench/sync/semaphore.cpp: the cost of a permit, with nobody in the way and with two who want it.
//
// A round is one permit taken and given back by a task. "alone": nobody else wants it; baseline:
// the two read-modify-writes that this takes at least, bare. "two": two tasks and one permit;
// baseline: the same with two threads and a std::counting_semaphore. Time: run without arguments.
// Instructions:
//   tools/instructions.py --only alone.current_thread build/release/bench/bench.sync.semaphore
#include "skua/sync/semaphore.hpp"

#include "runtime/flavours.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/side_by_side.hpp"

#include <atomic>
#include <cstdint>
#include <semaphore>
#include <thread>
#include <utility>
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

skua::task<unsigned long> two(int rounds) {
  skua::semaphore limit(1);
  unsigned long count = 0;
  auto one = skua::spawn(takes_turns(limit, count, rounds / 2));
  auto other = skua::spawn(takes_turns(limit, count, rounds / 2));
  co_await std::move(one);
  co_await std::move(other);
  co_return count;
}
unsigned long two_threads(int rounds) {
  std::counting_semaphore<> limit(1);
  unsigned long count = 0;
  auto body = [&] {
    for (int i = 0; i < rounds / 2; ++i) {
      limit.acquire();
      ++count;
      limit.release();
    }
  };
  std::thread one(body);
  std::thread other(body);
  one.join();
  other.join();
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<alone>(all, "alone", 300'000, {"bare", bare});
  flavours::add<two>(all, "two", 100'000, {"std::counting_semaphore", two_threads});
  return side_by_side(argc, argv, "semaphore", all);
}
