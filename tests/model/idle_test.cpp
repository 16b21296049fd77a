// tests/model/idle_test.cpp: work that is added while workers fall asleep is run, in every order.
#include "sched/idle.hpp"

#include "driver/parker.hpp"
#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/futex.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace {

using skua_model::bound;
using skua_model::explorer;
using idle = skua::idle<skua_model::atomics, skua_model::mutex>;
using parker = skua::parker<skua_model::atomics, skua_model::futex>;
using order = std::memory_order;
using side = skua_model::order_mutant::side;

/// A shared counter stands for the queues: taking is atomic, looking at it is a plain load, as the
/// length of a queue is. Workers end when all work is done, or sleep for ever, which the explorer
/// calls a deadlock.
///
/// A worker sleeps on a flag that its waker sets and that is cleared with each wake: one wake, one
/// sleep. Or, as it ships, in a parker, whose token may be left over from a wake that found it
/// awake: then the token ends the next sleep, and only unpark() tells whether it was meant.
class shop {
public:
  explicit shop(int workers, int work_to_come)
      : sleepers(static_cast<std::size_t>(workers)), left_(work_to_come) {}

  void add() {
    waiting_.fetch_add(1, order::relaxed);
    wake_one();
  }

  /// In the scenario, before it runs: this worker has found nothing and sleeps.
  void asleep(std::size_t me) {
    (void)sleepers.park(me, false);
    asleep_[me] = true;
  }

  void work(std::size_t me) {
    bool searching = asleep_[me] && sleep(me);
    if (over_) return;
    for (;;) {
      if (!searching) searching = sleepers.try_search();
      if (take()) {
        // The last searcher that finds work wakes a successor first, if there is more.
        if (searching && sleepers.stop_searching() && waiting_.load(order::relaxed) > 0) wake_one();
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
      searching = sleep(me);
      if (over_) return;
    }
  }

  idle sleepers;
  bool needs_others = false;
  bool with_parkers = false;

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
    if (whom == idle::none) return;
    if (with_parkers)
      parkers_[whom].wake();
    else
      woken_[whom] = true;
  }
  /// True if it was woken, and so counts as searching.
  bool sleep(std::size_t me) {
    if (with_parkers) {
      parkers_[me].park(parker::no_deadline);
      return !over_ && !sleepers.unpark(me);
    }
    explorer::current().block_until([&] { return woken_[me] || over_; }, "a wake-up");
    woken_[me] = false;
    return true;
  }
  void end_all() {
    over_ = true;
    if (with_parkers)
      for (parker& each : parkers_) each.wake();
  }

  skua_model::atomic<int> waiting_{0};
  // The explorer's own: one fiber runs at a time.
  int left_;
  bool over_ = false;
  std::array<bool, 3> asleep_{};
  std::array<bool, 3> woken_{};
  std::array<parker, 3> parkers_;
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

void add_twice(shop& all) {
  all.add();
  all.add();
}

/// `awake` of three workers look for work, the others sleep already; all pieces need each other.
void three_workers(std::size_t awake, int pieces) {
  shop all(3, pieces);
  all.needs_others = true;
  for (std::size_t i = awake; i < 3; ++i) all.asleep(i);
  explorer::run({[&] { all.work(0); }, [&] { all.work(1); }, [&] { all.work(2); },
                 [&] {
                   for (int i = 0; i < pieces; ++i) all.add();
                 }});
}
void three_asleep_two_pieces() {
  three_workers(0, 2);
}
void three_asleep_three_pieces() {
  three_workers(0, 3);
}
void one_awake_two_pieces() {
  three_workers(1, 2);
}
void one_awake_three_pieces() {
  three_workers(1, 3);
}
void two_awake_one_piece() {
  three_workers(2, 1);
}
void two_awake_two_pieces() {
  three_workers(2, 2);
}

/// A token that is left over counts no sleeper twice (a peer's incident, cppcoro 114).
void tokens_left_over() {
  shop all(2, 2);
  all.with_parkers = true;
  explorer::run({[&] { all.work(0); }, [&] { all.work(1); }, [&] { add_twice(all); }});
}
void tokens_left_over_and_pieces_that_need_each_other() {
  shop all(2, 2);
  all.with_parkers = true;
  all.needs_others = true;
  explorer::run({[&] { all.work(0); }, [&] { all.work(1); }, [&] { add_twice(all); }});
}

TEST(idle_model, no_wake_up_is_lost) {
  skua_model::expect_clean("one worker, one adder", bound(3), one_worker_one_adder);
  skua_model::expect_clean("two workers, one adder", bound(2), two_workers_one_adder);
  skua_model::expect_clean("two pieces that need each other", bound(2),
                           two_pieces_that_need_each_other);
  skua_model::expect_clean("two workers, two pieces of work", bound(2), two_workers_two_pieces);
}

TEST(idle_model, no_wake_up_is_lost_among_three) {
  skua_model::expect_clean("three asleep, two pieces", bound(2), three_asleep_two_pieces);
  skua_model::expect_clean("two awake, one piece", bound(2), two_awake_one_piece);
  skua_model::expect_clean("one awake, two pieces", bound(1), one_awake_two_pieces);
  skua_model::expect_clean("two awake, two pieces", bound(1), two_awake_two_pieces);
}

TEST(idle_model, a_token_that_is_left_over_misleads_nobody) {
  skua_model::expect_clean("tokens left over", bound(2), tokens_left_over);
  skua_model::expect_clean("tokens left over, pieces that need each other", bound(2),
                           tokens_left_over_and_pieces_that_need_each_other);
}

TEST(idle_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::worker_to_wake(", side::release}, bound(3), one_worker_one_adder);
  expect_killed({"::park(", side::acquire}, bound(3), one_worker_one_adder);
  expect_killed({"::stop_searching(", side::acquire}, bound(3), two_pieces_that_need_each_other);
}

TEST(idle_model, deeper) {
  skua_model::expect_clean_as_far_as(
      3, {{"two workers, two pieces of work", two_workers_two_pieces},
          {"two pieces that need each other", two_pieces_that_need_each_other},
          {"three asleep, two pieces", three_asleep_two_pieces},
          {"two awake, one piece", two_awake_one_piece},
          {"tokens left over", tokens_left_over}});
}

TEST(idle_model, deeper_among_three) {
  skua_model::expect_clean_as_far_as(2, {{"three asleep, three pieces", three_asleep_three_pieces},
                                         {"one awake, two pieces", one_awake_two_pieces},
                                         {"one awake, three pieces", one_awake_three_pieces},
                                         {"two awake, two pieces", two_awake_two_pieces}});
}

}  // namespace
