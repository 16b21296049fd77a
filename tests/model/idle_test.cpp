// tests/model/idle_test.cpp: work that is added while workers fall asleep is run, in every order.
#include "sched/idle.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace {

using skua_model::explorer;
using skua_model::limits;
using idle = skua::idle<skua_model::atomics, skua_model::mutex>;
using order = std::memory_order;
using side = skua_model::order_mutant::side;

/// A shared counter stands for the queues: taking is atomic, looking at it is a plain load, as the
/// length of a queue is. Workers end when all work is done, or sleep for ever, which the explorer
/// calls a deadlock.
class shop {
public:
  explicit shop(int workers, int work_to_come)
      : sleepers(static_cast<std::size_t>(workers)), left_(work_to_come) {}

  void add() {
    waiting_.fetch_add(1, order::relaxed);
    wake_one();
  }

  void work(std::size_t me) {
    bool searching = false;
    for (;;) {
      if (!searching) searching = sleepers.try_search();
      if (take()) {
        // The last searcher that finds work wakes a successor first.
        if (searching && sleepers.stop_searching()) wake_one();
        searching = false;
        if (--left_ == 0) return end_all();
        // A piece that needs the others: its worker is busy until they are done.
        if (needs_others) explorer::current().block_until([&] { return over_; }, "other pieces");
        if (over_) return;
        continue;
      }
      const bool look_again = sleepers.park(me, searching);
      searching = false;
      if (look_again && waiting_.load(order::relaxed) > 0) {
        searching = !sleepers.unpark(me);
        if (searching) woken_[me] = false;  // somebody woke it meanwhile
        continue;
      }
      explorer::current().block_until([&] { return woken_[me] || over_; }, "a wake-up");
      if (over_) return;
      woken_[me] = false;
      searching = true;  // counted so by the waker
    }
  }

  idle sleepers;
  bool needs_others = false;

private:
  bool take() {
    int seen = waiting_.load(order::relaxed);
    while (seen > 0)
      if (waiting_.compare_exchange_weak(seen, seen - 1, order::relaxed, order::relaxed))
        return true;
    return false;
  }
  void wake_one() {
    const std::size_t whom = sleepers.worker_to_wake();
    if (whom != idle::none) woken_[whom] = true;
  }
  void end_all() { over_ = true; }

  skua_model::atomic<int> waiting_{0};
  // The explorer's own: one fiber runs at a time.
  int left_;
  bool over_ = false;
  std::array<bool, 4> woken_{};
};

void one_worker_one_adder() {
  shop all(1, 1);
  explorer::run({[&] { all.work(0); }, [&] { all.add(); }});
}
void two_workers_one_adder() {
  shop all(2, 1);
  explorer::run({[&] { all.work(0); }, [&] { all.work(1); }, [&] { all.add(); }});
}
void two_workers_two_pieces() {
  shop all(2, 2);
  explorer::run({[&] { all.work(0); }, [&] { all.work(1); },
                 [&] {
                   all.add();
                   all.add();
                 }});
}

void two_pieces_that_need_each_other() {
  shop all(2, 2);
  all.needs_others = true;
  explorer::run({[&] { all.work(0); }, [&] { all.work(1); },
                 [&] {
                   all.add();
                   all.add();
                 }});
}

limits bound(int preemptions) {
  limits within;
  within.preemptions = preemptions;
  return within;
}

TEST(idle_model, no_wake_up_is_lost) {
  skua_model::expect_clean("one worker, one adder", bound(3), one_worker_one_adder);
  skua_model::expect_clean("two workers, one adder", bound(2), two_workers_one_adder);
  skua_model::expect_clean("two pieces that need each other", bound(2),
                           two_pieces_that_need_each_other);
  skua_model::expect_clean("two workers, two pieces of work", bound(2), two_workers_two_pieces);
}

TEST(idle_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::worker_to_wake(", side::release}, bound(3), one_worker_one_adder);
  expect_killed({"::park(", side::acquire}, bound(3), one_worker_one_adder);
}

}  // namespace
