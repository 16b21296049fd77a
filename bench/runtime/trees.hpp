// bench/runtime/trees.hpp: trees of tasks that spawn children and wait for them.
#pragma once

#include "skua/coro/task.hpp"
#include "skua/runtime/join_handle.hpp"
#include "skua/runtime/spawn.hpp"

#include <atomic>
#include <utility>
#include <vector>

namespace trees {

/// Each frame has one of these among its parameters. This one counts nothing.
struct uncounted {};

/// This one counts how many frames are alive, and were at most.
class counted {
public:
  counted() { count_one(); }
  counted(const counted&) : counted() {}
  counted& operator=(const counted&) = delete;
  ~counted() {
    // order: none; a number that stands for itself.
    alive.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Since the last call. Not while a tree grows.
  static long take_peak() { return peak.exchange(0); }

private:
  static void count_one() {
    // order: none; numbers that stand for themselves.
    const long now = 1 + alive.fetch_add(1, std::memory_order_relaxed);
    // order: none; as above.
    long most = peak.load(std::memory_order_relaxed);
    // order: none; as above.
    while (most < now && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
  inline static std::atomic<long> alive = 0;
  inline static std::atomic<long> peak = 0;
};

/// A task for each call.
template <typename Frame = uncounted>
skua::task<unsigned long> fib(unsigned long n, Frame = Frame()) {
  if (n < 2) co_return n;
  auto one = skua::spawn(fib<Frame>(n - 1));
  auto other = skua::spawn(fib<Frame>(n - 2));
  const unsigned long first = co_await std::move(one);
  co_return first + co_await std::move(other);
}

/// Ten children each, down to `size` leaves.
template <typename Frame = uncounted>
skua::task<unsigned long> skynet(unsigned long number, unsigned long size, Frame = Frame()) {
  constexpr unsigned long children = 10;
  if (size == 1) co_return number;
  std::vector<skua::join_handle<unsigned long>> handles;
  handles.reserve(children);
  for (unsigned long i = 0; i < children; ++i)
    handles.push_back(skua::spawn(skynet<Frame>(number + (i * size / children), size / children)));
  unsigned long sum = 0;
  for (auto& handle : handles) sum += co_await std::move(handle);
  co_return sum;
}

}  // namespace trees
