// bench/sched/items.hpp: items that go through a queue, and the plainest queue they can go through.
#pragma once

#include "skua/base/work.hpp"

#include <cstddef>
#include <deque>
#include <mutex>

struct item : skua::work {
  item() noexcept : work([](skua::work&) noexcept {}) {}
};

class locked_deque {
public:
  void push(skua::work& one) {
    const std::lock_guard hold(mutex_);
    items_.push_back(&one);
  }
  skua::work* pop() {
    const std::lock_guard hold(mutex_);
    if (items_.empty()) return nullptr;
    skua::work* const first = items_.front();
    items_.pop_front();
    return first;
  }

private:
  std::mutex mutex_;
  std::deque<skua::work*> items_;
};

/// Pushes `Batch` items and pops them, until `rounds` have gone through.
template <typename Queue, std::size_t Batch>
unsigned long through(int rounds) {
  Queue queue;
  item items[Batch];
  unsigned long seen = 0;
  for (int left = rounds; left > 0; left -= static_cast<int>(Batch)) {
    for (item& one : items) queue.push(one);
    while (skua::work* const one = queue.pop()) {
      asm volatile("" : : "r"(one) : "memory");  // somebody might have run it
      ++seen;
    }
  }
  return seen;
}
