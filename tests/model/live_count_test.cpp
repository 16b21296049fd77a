// tests/model/live_count_test.cpp: the waiter of a scope is told of the last end, and not misled.
#include "sched/live_count.hpp"

#include "model/atomic.hpp"
#include "model/barrier.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace {

using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using live_count = skua::live_count<skua_model::atomics, skua_model::barrier>;
using order = std::memory_order;
using side = skua_model::order_mutant::side;

/// A scope with a waiter, who is told as a parker would: what led to it is seen.
class scope {
public:
  explicit scope(std::size_t own_lanes) : count(own_lanes) {}

  void spawn(std::size_t lane) {
    ++alive_;
    count.spawned(lane);
  }
  /// The task `which`, which has a place of its own to leave its result.
  void end(std::size_t lane, std::size_t which) {
    results[which].write(7);
    --alive_;
    if (!count.ended(lane)) return;
    explorer::expect(waiter_.load(order::relaxed) == 3, "the waiter's address is there");
    (void)told_.exchange(1, order::release);
  }
  void wait(std::size_t tasks) {
    waiter_.store(3, order::relaxed);
    count.watch();
    while (!count.quiet()) {
      explorer::current().block_until([this] { return told_.latest() == 1; }, "to be told");
      (void)told_.exchange(0, order::acquire);
    }
    count.unwatch();
    expect_over(tasks);
  }
  void look(std::size_t tasks) {
    if (count.quiet()) expect_over(tasks);
  }

  live_count count;
  std::array<plain<int>, 3> results;

private:
  void expect_over(std::size_t tasks) {
    explorer::expect(alive_ == 0, "nobody is alive");
    for (std::size_t i = 0; i < tasks; ++i)
      explorer::expect(results[i].read() == 7, "what the tasks did is seen");
  }

  skua_model::atomic<int> waiter_{0};  // a late end may read it while the next waiter writes
  skua_model::atomic<int> told_{0};
  int alive_ = 0;  // the explorer's own
};

void one_task() {
  scope all(1);
  all.spawn(all.count.shared_lane());
  explorer::run({[&] { all.end(0, 0); }, [&] { all.wait(1); }});
}

void two_lanes() {
  scope all(2);
  all.spawn(0);
  all.spawn(0);
  explorer::run({[&] { all.end(0, 0); }, [&] { all.end(1, 1); }, [&] { all.wait(2); }});
}

void two_threads_on_the_shared_lane() {
  scope all(0);
  all.spawn(0);
  all.spawn(0);
  explorer::run({[&] { all.end(0, 0); },
                 [&] {
                   all.spawn(0);
                   all.end(0, 1);
                   all.end(0, 2);
                 },
                 [&] { all.wait(3); }});
}

/// A parent, spawned on lane 0, runs on lane 1, spawns a child there and ends; the child runs on
/// lane 0. `waiter` is run beside them.
template <typename Waiter>
void parent_and_child(Waiter waiter) {
  scope all(2);
  all.spawn(0);
  skua_model::atomic<int> queue(0);
  explorer::run({[&] {
                   all.spawn(1);
                   queue.store(1, order::release);
                   all.end(1, 0);
                 },
                 [&] {
                   explorer::current().block_until([&] { return queue.latest() == 1; }, "a child");
                   (void)queue.exchange(0, order::acquire);
                   all.end(0, 1);
                 },
                 [&] { waiter(all); }});
}
void wait_for_parent_and_child() {
  parent_and_child([](scope& all) { all.wait(2); });
}
void look_at_parent_and_child() {
  parent_and_child([](scope& all) { all.look(2); });
}

/// The next scope uses the same object: the counts go on from where they are.
void used_again() {
  scope all(1);
  all.spawn(0);
  explorer::run({[&] { all.end(0, 0); },
                 [&] {
                   all.wait(1);
                   all.spawn(all.count.shared_lane());
                   all.end(all.count.shared_lane(), 1);
                   all.wait(2);
                 }});
}

TEST(live_count_model, the_waiter_is_told_of_the_last_end_and_not_misled) {
  skua_model::expect_clean("one task", bound(3), one_task);
  skua_model::expect_clean("two lanes", bound(2), two_lanes);
  skua_model::expect_clean("two threads on the shared lane", bound(2),
                           two_threads_on_the_shared_lane);
  skua_model::expect_clean("wait for parent and child", bound(2), wait_for_parent_and_child);
  skua_model::expect_clean("look at parent and child", bound(2), look_at_parent_and_child);
  skua_model::expect_clean("used again", bound(2), used_again);
}

TEST(live_count_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::ended(", side::acquire}, bound(2), one_task);
  expect_killed({"::watch(", side::release}, bound(2), one_task);
  expect_killed({"::total_ended(", side::acquire}, bound(2), one_task);
  expect_killed({"::total_ended(", side::acquire}, bound(2), look_at_parent_and_child);
  expect_killed({"::add_one(", side::release}, bound(2), one_task);
  expect_killed({"::add_one(", side::release}, bound(2), two_threads_on_the_shared_lane);
}

TEST(live_count_model, deeper) {
  skua_model::expect_clean_as_far_as(
      3, {{"two lanes", two_lanes},
          {"two threads on the shared lane", two_threads_on_the_shared_lane},
          {"wait for parent and child", wait_for_parent_and_child},
          {"look at parent and child", look_at_parent_and_child}});
}

}  // namespace
