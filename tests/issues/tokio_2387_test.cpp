// tests/issues/tokio_2387_test.cpp: the owner wrote a slot that a thief was still copying.
//
// Tokio 2387: the owner took the real head for the end of free space, while a thief that had moved
// it on was still copying slots before it: a task was overwritten. And the cursors were so narrow
// that a thief could sleep until they had come round, and take what was no longer there.
//
// Here push() measures against the steal cursor, and cursors have 32 bits each.
#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"
#include "sched/local_queue.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace {

using skua::work;
using skua::work_queue;
using skua_model::explorer;
using skua_model::limits;

void run_nothing(work&) noexcept {}

struct item : work {
  item() : work(run_nothing) {}
  int taken = 0;
};

/// The owner goes on round the ring while a thief copies.
void owner_laps_thief() {
  using queue = skua::local_queue<skua_model::atomics, 4>;
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  std::vector<std::unique_ptr<item>> all;
  work_queue overflow;
  const auto push_one = [&] {
    all.push_back(std::make_unique<item>());
    victim->push(*all.back(), overflow);
  };
  const auto take = [](work* found) {
    if (found != nullptr)
      explorer::expect(++static_cast<item*>(found)->taken == 1, "each item is taken once");
    return found != nullptr;
  };
  for (int i = 0; i < 4; ++i) push_one();
  explorer::run({[&] {
                   for (int i = 0; i < 3; ++i) push_one();
                 },
                 [&] { take(victim->steal_into(*thief)); }});
  while (take(victim->pop())) {
  }
  while (take(thief->pop())) {
  }
  while (!overflow.empty()) take(overflow.pop_front());
  for (const auto& one : all) explorer::expect(one->taken == 1, "none is lost");
}

TEST(tokio_2387, a_slot_is_not_written_while_a_thief_copies_it) {
  limits within;
  within.preemptions = 3;
  skua_model::expect_clean("the owner laps a thief", within, owner_laps_thief);
}

/// Atomics that stop once, after so many loads, to let something else happen.
struct interrupted {
  static inline int loads_left = -1;
  static inline std::function<void()> meanwhile;

  template <typename T>
  class atomic {
  public:
    atomic(T initial = T()) : value_(initial) {}  // NOLINT
    T load(std::memory_order as) const {
      const T seen = value_.load(as);
      const bool last = loads_left == 0;
      if (loads_left >= 0) --loads_left;
      if (last) meanwhile();
      return seen;
    }
    void store(T value, std::memory_order as) { value_.store(value, as); }
    bool compare_exchange_strong(T& seen, T next, std::memory_order as, std::memory_order failed) {
      return value_.compare_exchange_strong(seen, next, as, failed);
    }
    bool compare_exchange_weak(T& seen, T next, std::memory_order as, std::memory_order failed) {
      return value_.compare_exchange_strong(seen, next, as, failed);
    }

  private:
    std::atomic<T> value_;
  };
  template <typename T>
  using plain = skua::std_atomics::plain<T>;
};

/// A thief has looked at head and tail, and sleeps. Meanwhile the owner's cursors make 2^16 steps,
/// which brings narrow ones back to where they were; but fewer items are left.
TEST(tokio_2387, a_thief_that_slept_while_the_cursors_went_on_takes_nothing_twice) {
  using queue = skua::local_queue<interrupted, 4>;
  constexpr std::size_t steps = std::size_t{1} << 16;
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  std::vector<item> items(steps + 1);
  work_queue overflow;
  std::size_t pushed = 0;
  const auto push_one = [&] { victim->push(items[pushed++], overflow); };
  const auto pop_one = [&] { ++static_cast<item*>(victim->pop())->taken; };
  for (int i = 0; i < 4; ++i) push_one();

  interrupted::meanwhile = [&] {
    while (pushed < items.size()) {
      pop_one();
      push_one();
    }
    for (int i = 0; i < 3; ++i) pop_one();
  };
  interrupted::loads_left = 3;  // its own tail and head, then the victim's head and tail
  work* const first = victim->steal_into(*thief);
  ASSERT_LT(interrupted::loads_left, 0) << "it was interrupted";

  ASSERT_EQ(first, &items.back());
  EXPECT_EQ(thief->pop(), nullptr) << "there was one item left, and no more";
  EXPECT_EQ(victim->pop(), nullptr);
  EXPECT_TRUE(overflow.empty());
  for (std::size_t i = 0; i + 1 < items.size(); ++i) ASSERT_EQ(items[i].taken, 1) << i;
}

}  // namespace
