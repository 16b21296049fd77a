// tests/sched/inbox_test.cpp: order and length of what others leave, and what it costs the owner.
#include "sched/inbox.hpp"

#include "skua/base/atomics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>

namespace {

using skua::work;

void run_nothing(work&) noexcept {}

struct item : work {
  item() : work(run_nothing) {}
};

TEST(inbox, gives_all_at_once_the_oldest_first) {
  skua::inbox<skua::std_atomics> box;
  std::array<item, 3> items;
  skua::work_queue taken;
  EXPECT_EQ(box.take_all(taken), 0U);
  EXPECT_TRUE(box.push(items[0])) << "it was empty: the owner is woken";
  EXPECT_FALSE(box.push(items[1])) << "somebody has woken it already";
  EXPECT_EQ(box.size(), 2U);
  EXPECT_EQ(box.take_all(taken), 2U);
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.size(), 0U);
  EXPECT_TRUE(box.push(items[2]));
  EXPECT_EQ(box.take_all(taken), 1U) << "behind what was there";
  for (item& one : items) EXPECT_EQ(taken.pop_front(), &one);
}

/// Counts read-modify-writes.
struct counting_atomics {
  static inline std::size_t modified = 0;

  template <typename T>
  class atomic : public std::atomic<T> {
  public:
    using std::atomic<T>::atomic;
    T exchange(T value, std::memory_order order) {
      ++modified;
      return std::atomic<T>::exchange(value, order);
    }
    bool compare_exchange_weak(T& seen, T value, std::memory_order yes, std::memory_order no) {
      ++modified;
      return std::atomic<T>::compare_exchange_weak(seen, value, yes, no);
    }
    T fetch_add(T value, std::memory_order order) {
      ++modified;
      return std::atomic<T>::fetch_add(value, order);
    }
  };
};

TEST(inbox, costs_its_owner_no_read_modify_write_while_it_is_empty) {
  skua::inbox<counting_atomics> box;
  skua::work_queue taken;
  for (int i = 0; i < 1'000; ++i) box.take_all(taken);
  EXPECT_EQ(counting_atomics::modified, 0U);
  std::array<item, 100> items;
  for (item& one : items) static_cast<void>(box.push(one));
  counting_atomics::modified = 0;
  EXPECT_EQ(box.take_all(taken), 100U);
  EXPECT_EQ(counting_atomics::modified, 1U) << "and one for all there is";
  while (taken.pop_front() != nullptr) {
  }
}

TEST(inbox, takes_each_item_of_several_threads_once_and_in_their_order) {
  constexpr std::size_t each = 20'000;
  struct numbered : item {
    std::size_t thread = 0;
    std::size_t number = 0;
  };
  skua::inbox<skua::std_atomics> box;
  std::array<std::vector<numbered>, 2> items{std::vector<numbered>(each),
                                             std::vector<numbered>(each)};
  std::array<std::size_t, 2> next{};
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < each; ++i) {
        items[t][i].thread = t;
        items[t][i].number = i;
        static_cast<void>(box.push(items[t][i]));
      }
    });
  skua::work_queue taken;
  while (next[0] + next[1] < 2 * each) {
    if (box.take_all(taken) == 0) std::this_thread::yield();
    while (work* const one = taken.pop_front()) {
      const auto& got = static_cast<numbered&>(*one);
      EXPECT_EQ(got.number, next[got.thread]++);
    }
  }
}

}  // namespace
