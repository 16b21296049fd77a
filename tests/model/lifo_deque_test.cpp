// tests/model/lifo_deque_test.cpp: the worker's deque with thieves and growth, in every order.
#include "sched/lifo_deque.hpp"

#include "model/atomic.hpp"
#include "model/barrier.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace {

using skua::work;
using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using deque = skua::lifo_deque<skua_model::atomics, skua_model::barrier, 2, 8>;
using side = skua_model::order_mutant::side;

void run_nothing(work&) noexcept {}

/// What the pusher wrote must be seen by whoever takes the item, and nobody else takes it.
struct item : work {
  item() : work(run_nothing) {}
  plain<int> content;
  int taken = 0;
};

/// A deque and its items. Number 0 is the oldest.
template <typename Deque = deque>
struct stock {
  explicit stock(std::size_t count) : all(std::make_unique<item[]>(count)), size(count) {}

  void push(std::size_t from, std::size_t end) {
    for (std::size_t i = from; i < end; ++i) {
      all[i].content.write(7);
      them.push(all[i], overflow);
    }
  }
  bool take(work* found) {
    if (found == nullptr) return false;
    auto& one = static_cast<item&>(*found);
    explorer::expect(one.content.read() == 7, "the item is seen whole");
    explorer::expect(++one.taken == 1, "each item is taken once");
    return true;
  }
  bool pop() { return take(them.pop()); }
  bool steal() { return take(them.steal()); }
  void drain() {
    while (pop()) {
    }
  }
  void expect_all_taken() {
    drain();
    while (!overflow.empty()) take(overflow.pop_front());
    for (std::size_t i = 0; i < size; ++i) explorer::expect(all[i].taken == 1, "none is lost");
  }

  std::unique_ptr<item[]> all;
  std::size_t size;
  Deque them;
  skua::work_queue overflow;  // the owner's
};

/// One item, and everybody wants it. Then another one, in its place.
void the_last_item() {
  stock<> of(2);
  of.push(0, 1);
  explorer::run({[&] {
                   of.pop();
                   of.push(1, 2);
                   of.pop();
                 },
                 [&] { of.steal(); }, [&] { of.steal(); }});
  of.expect_all_taken();
}

/// Two items: the owner comes for the one that the second thief wants.
void two_thieves() {
  stock<> of(2);
  of.push(0, 2);
  explorer::run({[&] {
                   of.pop();
                   of.pop();
                 },
                 [&] { of.steal(); }, [&] { of.steal(); }});
  of.expect_all_taken();
}

/// A thief that comes twice meets the owner.
void a_greedy_thief() {
  stock<> of(3);
  of.push(0, 2);
  explorer::run({[&] {
                   of.pop();
                   of.push(2, 3);
                   of.drain();
                 },
                 [&] {
                   of.steal();
                   of.steal();
                 }});
  of.expect_all_taken();
}

/// The buffer is full, and replaced, while two thieves look into it.
void two_thieves_and_growth() {
  stock<> of(4);
  of.push(0, 2);
  explorer::run({[&] {
                   of.push(2, 4);
                   of.pop();
                 },
                 [&] { of.steal(); }, [&] { of.steal(); }});
  of.expect_all_taken();
}

/// Twice.
void growth_again() {
  stock<> of(5);
  of.push(0, 2);
  explorer::run({[&] { of.push(2, 5); },
                 [&] {
                   of.steal();
                   of.steal();
                 }});
  of.expect_all_taken();
}

/// The owner goes round the buffer: a slot that a thief is about to read is written again.
void reused_slots(std::size_t thieves) {
  stock<> of(4);
  of.push(0, 2);
  std::vector<std::function<void()>> all(thieves + 1, [&] { of.steal(); });
  all[0] = [&] {
    of.steal();
    of.push(2, 3);
    of.pop();
    of.push(3, 4);
  };
  explorer::run(std::move(all));
  of.expect_all_taken();
}
void reused_slots_and_a_thief() {
  reused_slots(1);
}
void reused_slots_and_two_thieves() {
  reused_slots(2);
}

/// As large as it may be: what does not fit goes elsewhere.
void overflow_and_a_thief() {
  stock<skua::lifo_deque<skua_model::atomics, skua_model::barrier, 2, 2>> of(5);
  of.push(0, 2);
  explorer::run({[&] {
                   of.push(2, 4);
                   of.pop();
                   of.push(4, 5);
                 },
                 [&] { of.steal(); }, [&] { of.steal(); }});
  of.expect_all_taken();
}

/// The owner wants a certain item, which may have been stolen.
void one_that_is_wanted() {
  stock<> of(2);
  of.push(0, 2);
  explorer::run({[&] {
                   for (std::size_t i : {1U, 0U})
                     if (of.them.take_newest(of.all[i])) of.take(&of.all[i]);
                 },
                 [&] { of.steal(); }, [&] { of.steal(); }});
  of.expect_all_taken();
}

/// What is pushed and popped beside a thief, which may learn of an item from either.
void a_thief_from_the_beginning() {
  stock<> of(2);
  explorer::run({[&] {
                   of.push(0, 2);
                   of.pop();
                 },
                 [&] { of.steal(); }});
  of.expect_all_taken();
}

/// Who is told that something is there, and by what it can see that, gets it: worker::rest().
void whoever_is_told_finds_it() {
  stock<> of(1);
  skua_model::atomic<int> told = 0;
  explorer::run({[&] {
                   of.push(0, 1);
                   told.store(1, std::memory_order_release);
                 },
                 [&] {
                   if (told.load(std::memory_order_acquire) == 0) return;
                   explorer::expect(of.them.size() == 1, "it is seen");
                   explorer::expect(of.steal(), "it is found");
                 }});
  of.expect_all_taken();
}

TEST(lifo_deque_model, loses_nothing_and_gives_nothing_twice) {
  skua_model::expect_clean("the last item", bound(2), the_last_item);
  skua_model::expect_clean("two thieves", bound(2), two_thieves);
  skua_model::expect_clean("a greedy thief", bound(2), a_greedy_thief);
  skua_model::expect_clean("two thieves and growth", bound(2), two_thieves_and_growth);
  skua_model::expect_clean("growth again", bound(2), growth_again);
  skua_model::expect_clean("reused slots", bound(2), reused_slots_and_a_thief);
  skua_model::expect_clean("overflow and a thief", bound(2), overflow_and_a_thief);
  skua_model::expect_clean("one that is wanted", bound(2), one_that_is_wanted);
  skua_model::expect_clean("a thief from the beginning", bound(2), a_thief_from_the_beginning);
  skua_model::expect_clean("whoever is told finds it", bound(2), whoever_is_told_finds_it);
}

// But for [deque.taken], which the explorer cannot see: it keeps a thief's read of a slot from
// seeing what is written there afterwards, and loads never see the future here.
TEST(lifo_deque_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::push(", side::release}, bound(2), a_thief_from_the_beginning);
  expect_killed({"::pop(", side::release}, bound(2), a_thief_from_the_beginning);
  expect_killed({"::steal(", side::acquire}, bound(2), a_thief_from_the_beginning);
  expect_killed({"::grow(", side::release}, bound(2), two_thieves_and_growth);
}

TEST(lifo_deque_model, deeper) {
  skua_model::expect_clean_as_far_as(3, {{"the last item", the_last_item},
                                         {"two thieves", two_thieves},
                                         {"a greedy thief", a_greedy_thief},
                                         {"two thieves and growth", two_thieves_and_growth},
                                         {"growth again", growth_again},
                                         {"reused slots", reused_slots_and_two_thieves},
                                         {"overflow and a thief", overflow_and_a_thief}});
}

}  // namespace
