// bench/sync/mutex.cpp: the cost of a mutex, with nobody in the way and with others who want it.
//
// A round is one lock and one unlock by a task. "alone": nobody else wants it; baseline: the two
// read-modify-writes that this takes at least, bare. "two", "hundred": so many tasks; baseline: two
// threads and a std::mutex. "two_in_line": both give way while they hold it. Time: run without
// arguments. Instructions:
//   tools/instructions.py --only alone.current_thread build/release/bench/bench.sync.mutex
#include "skua/sync/mutex.hpp"

#include "runtime/flavours.hpp"
#include "support/side_by_side.hpp"
#include "sync/crowd.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace {

skua::task<> takes_turns(skua::mutex& lock, unsigned long& count, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const auto held = co_await lock.lock();
    ++count;
  }
}
/// Holds it across a suspension, so that the other one is always in line.
skua::task<> takes_turns_slowly(skua::mutex& lock, unsigned long& count, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const auto held = co_await lock.lock();
    co_await skua::yield();
    ++count;
  }
}

skua::task<unsigned long> alone(int rounds) {
  skua::mutex lock;
  unsigned long count = 0;
  co_await takes_turns(lock, count, rounds);
  co_return count;
}
unsigned long bare(int rounds) {
  static std::atomic<std::uint32_t> word = 0;
  unsigned long count = 0;
  for (int i = 0; i < rounds; ++i) {
    std::uint32_t expected = 0;
    // order: [bench.mutex] acquire, as a lock has it.
    if (word.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                     std::memory_order_relaxed))
      ++count;
    expected = 1;
    // order: [bench.mutex] release, as an unlock has it.
    (void)word.compare_exchange_strong(expected, 0, std::memory_order_release,
                                       std::memory_order_relaxed);
  }
  return count;
}

template <auto Body, int Tasks>
skua::task<unsigned long> together(int rounds) {
  skua::mutex lock;
  co_return co_await crowd<Body, Tasks>(lock, rounds);
}

template <bool Slowly>
unsigned long threads(int rounds) {
  std::mutex lock;
  unsigned long count = 0;
  two_threads([&] {
    for (int i = 0; i < rounds / 2; ++i) {
      const std::lock_guard hold(lock);
      if constexpr (Slowly) std::this_thread::yield();
      ++count;
    }
  });
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<comparison> all;
  flavours::add<alone>(all, "alone", 300'000, {"bare", bare});
  const side quick = {"std::mutex", threads<false>};
  flavours::add<together<takes_turns, 2>>(all, "two", 100'000, quick);
  flavours::add<together<takes_turns, 100>>(all, "hundred", 1'000'000, quick);
  const side slow = {"std::mutex", threads<true>};
  flavours::add<together<takes_turns_slowly, 2>>(all, "two_in_line", 30'000, slow);
  return side_by_side(argc, argv, "mutex", all);
}
