// tests/sched/admission_test.cpp: counted in, refused when closed, and nobody left at the end.
#include "sched/admission.hpp"

#include "skua/base/atomics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace {

using admission = skua::admission<skua::std_atomics>;

TEST(admission, starts_open_and_empty) {
  admission gate;
  EXPECT_TRUE(gate.empty());
  EXPECT_FALSE(gate.closed());
}

TEST(admission, counts_who_is_inside) {
  admission gate;
  EXPECT_TRUE(gate.enter());
  EXPECT_TRUE(gate.enter());
  gate.leave();
  EXPECT_FALSE(gate.empty());
  gate.leave();
  EXPECT_TRUE(gate.empty());
}

TEST(admission, refuses_once_closed_but_counts_all_the_same) {
  admission gate;
  EXPECT_TRUE(gate.enter());
  EXPECT_TRUE(gate.close());
  EXPECT_TRUE(gate.closed());
  EXPECT_FALSE(gate.close()) << "closed by another";
  EXPECT_FALSE(gate.enter());
  gate.leave();
  EXPECT_FALSE(gate.empty()) << "one entered before";
  gate.leave();
  EXPECT_TRUE(gate.empty());
  EXPECT_FALSE(gate.enter());
  EXPECT_FALSE(gate.empty()) << "refused, and inside until it leaves";
  gate.leave();
}

TEST(admission, leaving_without_entering_is_an_error) {
  admission gate;
  EXPECT_DEATH(gate.leave(), "who leaves has entered");
  EXPECT_TRUE(gate.close());
  EXPECT_DEATH(gate.leave(), "who leaves has entered");
}

TEST(admission, what_was_done_inside_is_seen_once_it_is_empty) {
  admission gate;
  std::array<int, 3> done{};  // ordered by the word alone
  std::atomic<bool> over = false;
  std::vector<std::thread> guests;
  for (int& mine : done)
    guests.emplace_back([&] {
      bool admitted = true;
      while (admitted) {
        admitted = gate.enter();
        if (admitted) ++mine;
        gate.leave();
      }
      while (!over.load()) std::this_thread::yield();
    });
  while (gate.empty()) std::this_thread::yield();
  EXPECT_TRUE(gate.close());
  while (!gate.empty()) std::this_thread::yield();
  const std::array<int, 3> seen = done;
  over.store(true);
  for (std::thread& each : guests) each.join();
  EXPECT_EQ(seen, done) << "nobody was admitted afterwards";
}

}  // namespace
