// bench/sync/mutex.cpp: the cost of a mutex, with nobody in the way and with two who want it.
//
// A round is one lock and one unlock by a task. "alone": nobody else wants it; baseline: the two
// read-modify-writes that this takes at least, bare. "two": two tasks; baseline: the same with two
// threads and a std::mutex. "two_in_line": both give way while they hold it. Time: run without
// arguments. Instructions:
//   tools/instructions.py --only alone.current_thread build/release/bench/bench.sync.mutex
#include "skua/sync/mutex.hpp"

#include "runtime/flavours.hpp"
#include "skua/runtime/spawn.hpp"
#include "support/side_by_side.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
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

template <auto Body>
skua::task<unsigned long> two(int rounds) {
  skua::mutex lock;
  unsigned long count = 0;
  auto one = skua::spawn(Body(lock, count, rounds / 2));
  auto other = skua::spawn(Body(lock, count, rounds / 2));
  co_await std::move(one);
  co_await std::move(other);
  co_return count;
}

template <bool Slowly>
unsigned long two_threads(int rounds) {
  std::mutex lock;
  unsigned long count = 0;
  auto body = [&] {
    for (int i = 0; i < rounds / 2; ++i) {
      const std::lock_guard hold(lock);
      if constexpr (Slowly) std::this_thread::yield();
      ++count;
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
  flavours::add<two<takes_turns>>(all, "two", 100'000, {"std::mutex", two_threads<false>});
  flavours::add<two<takes_turns_slowly>>(all, "two_in_line", 30'000,
                                         {"std::mutex", two_threads<true>});
  return side_by_side(argc, argv, "mutex", all);
}
