// tests/model/local_queue_test.cpp: the worker's ring with thieves and overflow, in every order.
#include "sched/local_queue.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"
#include "skua/base/work.hpp"
#include "skua/base/work_queue.hpp"

#include <gtest/gtest.h>

#include <array>
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
using queue = skua::local_queue<skua_model::atomics, 4, 2>;  // the tail goes back three times
using side = skua_model::order_mutant::side;

void run_nothing(work&) noexcept {}

/// What the pusher wrote must be seen by whoever takes the item, and nobody else takes it.
struct item : work {
  item() : work(run_nothing) {}
  plain<int> content;
  int taken = 0;
};

struct items {
  explicit items(std::size_t count) : all(std::make_unique<item[]>(count)), size(count) {}

  void push(std::size_t index, queue& to) {
    all[index].content.write(7);
    to.push(all[index], overflow);
  }
  static bool take(work* found) {
    if (found == nullptr) return false;
    auto& one = static_cast<item&>(*found);
    explorer::expect(one.content.read() == 7, "the item is seen whole");
    explorer::expect(++one.taken == 1, "each item is taken once");
    return true;
  }
  static void drain(queue& from) {
    while (take(from.pop())) {
    }
  }
  void expect_all_taken() {
    while (!overflow.empty()) take(overflow.pop_front());
    for (std::size_t i = 0; i < size; ++i) explorer::expect(all[i].taken == 1, "none is lost");
  }

  std::unique_ptr<item[]> all;
  std::size_t size;
  skua::work_queue overflow;  // the owner's
};

/// The owner fills its ring over the brim and empties it, while a thief helps itself.
void one_thief_and_overflow() {
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  items them(6);
  explorer::run({[&] {
                   for (std::size_t i = 0; i < 6; ++i) {
                     them.push(i, *victim);
                     if (i == 1) items::take(victim->pop());
                   }
                   items::drain(*victim);
                 },
                 [&] {
                   items::take(victim->steal_into(*thief));
                   items::drain(*thief);
                 }});
  them.expect_all_taken();
}

/// Two thieves at once, while the owner takes and adds.
void two_thieves() {
  auto victim = std::make_unique<queue>();
  std::array<queue, 2> loot;
  items them(4);
  for (std::size_t i = 0; i < 3; ++i) them.push(i, *victim);
  explorer::run({[&] {
                   items::take(victim->pop());
                   them.push(3, *victim);
                 },
                 [&] { items::take(victim->steal_into(loot[0])); },
                 [&] { items::take(victim->steal_into(loot[1])); }});
  items::drain(*victim);
  for (queue& each : loot) items::drain(each);
  them.expect_all_taken();
}

/// Two thieves at a full ring, and an owner who fills the slots again that they have left.
void two_thieves_and_reused_slots() {
  auto victim = std::make_unique<queue>();
  std::array<queue, 2> loot;
  items them(7);
  for (std::size_t i = 0; i < 4; ++i) them.push(i, *victim);
  explorer::run({[&] { items::take(victim->steal_into(loot[0])); },
                 [&] { items::take(victim->steal_into(loot[1])); },
                 [&] {
                   for (std::size_t i = 4; i < 7; ++i) them.push(i, *victim);
                 }});
  items::drain(*victim);
  for (queue& each : loot) items::drain(each);
  them.expect_all_taken();
}

/// A thief's loot is stolen again.
void chained_steal() {
  auto victim = std::make_unique<queue>();
  auto first = std::make_unique<queue>();
  auto second = std::make_unique<queue>();
  items them(4);
  for (std::size_t i = 0; i < 4; ++i) them.push(i, *victim);
  explorer::run({[&] {
                   items::take(victim->steal_into(*first));
                   items::drain(*first);
                 },
                 [&] {
                   items::take(first->steal_into(*second));
                   items::drain(*second);
                 }});
  items::drain(*victim);
  them.expect_all_taken();
}

/// The owner goes on round the ring while a thief copies: the slots are used again.
void reused_slots() {
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  items them(5);
  for (std::size_t i = 0; i < 4; ++i) them.push(i, *victim);
  explorer::run({[&] {
                   items::take(victim->pop());
                   them.push(4, *victim);
                   items::drain(*victim);
                 },
                 [&] {
                   items::take(victim->steal_into(*thief));
                   items::drain(*thief);
                 }});
  them.expect_all_taken();
}

/// The owner adds many at once, round the ring, while a thief copies.
void many_at_once() {
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  items them(7);
  for (std::size_t i = 0; i < 4; ++i) them.push(i, *victim);
  for (std::size_t i = 4; i < 7; ++i) them.all[i].content.write(7);
  explorer::run({[&] {
                   items::take(victim->pop());
                   const std::array<work*, 3> more{&them.all[4], &them.all[5], &them.all[6]};
                   for (std::size_t i = victim->push_some(more); i < more.size(); ++i)
                     items::take(more[i]);
                   items::drain(*victim);
                 },
                 [&] {
                   items::take(victim->steal_into(*thief));
                   items::drain(*thief);
                 }});
  them.expect_all_taken();
}

/// They are stolen.
void many_that_are_stolen() {
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  items them(2);
  explorer::run({[&] {
                   for (std::size_t i = 0; i < 2; ++i) them.all[i].content.write(7);
                   const std::array<work*, 2> both{&them.all[0], &them.all[1]};
                   explorer::expect(victim->push_some(both) == 2, "there is room");
                 },
                 [&] { items::take(victim->steal_into(*thief)); }});
  items::drain(*victim);
  items::drain(*thief);
  them.expect_all_taken();
}

/// The owner wants a certain item, which a thief may be after, and only that.
void one_that_is_wanted() {
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  items them(4);
  for (std::size_t i = 0; i < 3; ++i) them.push(i, *victim);
  explorer::run({[&] {
                   for (std::size_t i = 0; i < 2; ++i)
                     if (victim->take_oldest(them.all[i])) items::take(&them.all[i]);
                   them.push(3, *victim);
                 },
                 [&] { items::take(victim->steal_into(*thief)); }});
  items::drain(*victim);
  items::drain(*thief);
  them.expect_all_taken();
}

/// The owner takes back what it pushed last, the very last included, and pushes again, while
/// thieves claim what they saw.
void taken_back(std::size_t thieves) {
  auto victim = std::make_unique<queue>();
  std::array<queue, 2> loot;
  items them(5);
  for (std::size_t i = 0; i < 3; ++i) them.push(i, *victim);
  std::vector<std::function<void()>> all(thieves + 1);
  all[0] = [&] {
    for (const std::size_t i : {2U, 1U})
      if (victim->take_newest(them.all[i])) items::take(&them.all[i]);
    them.push(3, *victim);
    if (victim->take_newest(them.all[3])) items::take(&them.all[3]);
    them.push(4, *victim);
  };
  for (std::size_t i = 0; i < thieves; ++i)
    all[i + 1] = [&, i] { items::take(victim->steal_into(loot[i])); };
  explorer::run(std::move(all));
  items::drain(*victim);
  for (queue& each : loot) items::drain(each);
  them.expect_all_taken();
}
void taken_back_beside_a_thief() {
  taken_back(1);
}
void taken_back_beside_two_thieves() {
  taken_back(2);
}

/// So often that a head which counted on and on would be the first one again.
void taken_back_again_and_again() {
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  items them(4);
  them.push(0, *victim);
  explorer::run({[&] {
                   for (std::size_t i = 0; i < 4; ++i) {
                     if (victim->take_newest(them.all[i])) items::take(&them.all[i]);
                     if (i < 3) them.push(i + 1, *victim);
                   }
                 },
                 [&] { items::take(victim->steal_into(*thief)); }});
  items::drain(*victim);
  items::drain(*thief);
  them.expect_all_taken();
}

/// One item, and both want it; then there is another.
void the_last_is_taken_back() {
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  items them(2);
  them.push(0, *victim);
  explorer::run({[&] {
                   if (victim->take_newest(them.all[0])) items::take(&them.all[0]);
                   them.push(1, *victim);
                   items::drain(*victim);
                 },
                 [&] {
                   items::take(victim->steal_into(*thief));
                   items::take(victim->steal_into(*thief));
                 }});
  items::drain(*thief);
  them.expect_all_taken();
}

/// What a thief can see of one that is pushed and one that was taken back: whole, or not at all.
void a_thief_after_one_was_taken_back() {
  auto victim = std::make_unique<queue>();
  auto thief = std::make_unique<queue>();
  items them(2);
  explorer::run({[&] {
                   them.push(0, *victim);
                   them.push(1, *victim);
                   if (victim->take_newest(them.all[1])) items::take(&them.all[1]);
                 },
                 [&] { items::take(victim->steal_into(*thief)); }});
  items::drain(*victim);
  items::drain(*thief);
  them.expect_all_taken();
}

/// The owner of a queue that is being robbed fills it with loot from others, round the ring.
void loot_in_reused_slots() {
  auto robbed = std::make_unique<queue>();
  auto robber = std::make_unique<queue>();
  std::array<queue, 3> rich;
  items them(14);
  for (std::size_t i = 0; i < 12; ++i) them.push(i, rich[i / 4]);
  them.push(12, *robbed);
  them.push(13, *robbed);
  explorer::run({[&] {
                   items::take(robbed->pop());
                   for (queue& each : rich) items::take(each.steal_into(*robbed));
                   items::drain(*robbed);
                 },
                 [&] {
                   items::take(robbed->steal_into(*robber));
                   items::drain(*robber);
                 }});
  for (queue& each : rich) items::drain(each);
  them.expect_all_taken();
}

TEST(local_queue_model, loses_nothing_and_gives_nothing_twice) {
  skua_model::expect_clean("one thief and overflow", bound(2), one_thief_and_overflow);
  skua_model::expect_clean("two thieves", bound(2), two_thieves);
  skua_model::expect_clean("two thieves and reused slots", bound(2), two_thieves_and_reused_slots);
  skua_model::expect_clean("chained steal", bound(2), chained_steal);
  skua_model::expect_clean("reused slots", bound(2), reused_slots);
  skua_model::expect_clean("loot in reused slots", bound(2), loot_in_reused_slots);
  skua_model::expect_clean("one that is wanted", bound(2), one_that_is_wanted);
  skua_model::expect_clean("taken back", bound(2), taken_back_beside_a_thief);
  skua_model::expect_clean("again and again", bound(2), taken_back_again_and_again);
  skua_model::expect_clean("the last is taken back", bound(3), the_last_is_taken_back);
  skua_model::expect_clean("after one was taken back", bound(3), a_thief_after_one_was_taken_back);
  skua_model::expect_clean("many at once", bound(2), many_at_once);
  skua_model::expect_clean("many that are stolen", bound(2), many_that_are_stolen);
}

TEST(local_queue_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::try_push(", side::acquire}, bound(2), reused_slots);
  expect_killed({"::try_push(", side::release}, bound(2), one_thief_and_overflow);
  expect_killed({"::push_some(", side::acquire}, bound(2), many_at_once);
  expect_killed({"::push_some(", side::release}, bound(2), many_that_are_stolen);
  expect_killed({"::claim_half(", side::acquire}, bound(2), one_thief_and_overflow);
  expect_killed({"::take_newest(", side::release}, bound(2), a_thief_after_one_was_taken_back);
  expect_killed({"::release_claim(", side::release}, bound(2), reused_slots);
  expect_killed({"::steal_into(", side::release}, bound(2), chained_steal);
  expect_killed({"::steal_into(", side::acquire}, bound(2), loot_in_reused_slots);
}

TEST(local_queue_model, deeper) {
  skua_model::expect_clean_as_far_as(
      3, {{"one thief and overflow", one_thief_and_overflow},
          {"two thieves", two_thieves},
          {"two thieves and reused slots", two_thieves_and_reused_slots},
          {"chained steal", chained_steal},
          {"reused slots", reused_slots},
          {"many at once", many_at_once},
          {"loot in reused slots", loot_in_reused_slots},
          {"one that is wanted", one_that_is_wanted},
          {"taken back, two thieves", taken_back_beside_two_thieves}});
}

}  // namespace
