// tests/model/lifo_slot_test.cpp: owner and rescuers at one slot: each item is got once, whole.
#include "sched/lifo_slot.hpp"

#include "model/atomic.hpp"
#include "model/barrier.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace {

using skua::work;
using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using slot = skua::lifo_slot<skua_model::atomics, skua_model::barrier>;
using side = skua_model::order_mutant::side;

void run_nothing(work&) noexcept {}

struct item : work {
  item() : work(run_nothing) {}
  plain<int> content;
  int taken = 0;
};

void take(work* found) {
  if (found == nullptr) return;
  auto& one = static_cast<item&>(*found);
  explorer::expect(one.content.read() == 7, "the item is seen whole");
  one.content.write(8);
  explorer::expect(++one.taken == 1, "each item is got once");
}

template <std::size_t Count>
struct shelf {
  slot next;
  std::array<item, Count> items;

  void put(std::size_t index) {
    items[index].content.write(7);
    take(next.put(items[index]));
  }
  void expect_all_taken() {
    take(next.take());
    for (const item& one : items) explorer::expect(one.taken == 1, "none is lost");
  }
};

/// The owner fills, displaces and takes.
void one_rescuer() {
  shelf<4> all;
  explorer::run({[&] {
                   all.put(0);
                   all.put(1);
                   take(all.next.take());
                   all.put(2);
                   all.put(3);
                 },
                 [&] {
                   take(all.next.rescue());
                   take(all.next.rescue());
                 }});
  all.expect_all_taken();
}

void two_rescuers() {
  shelf<3> all;
  all.put(0);
  explorer::run({[&] {
                   take(all.next.take());
                   all.put(1);
                   all.put(2);
                 },
                 [&] { take(all.next.rescue()); },
                 [&] {
                   take(all.next.rescue());
                   take(all.next.rescue());
                 }});
  all.expect_all_taken();
}

void put_into_an_empty_slot() {
  shelf<1> all;
  explorer::run({[&] { all.put(0); }, [&] { take(all.next.rescue()); }});
  all.expect_all_taken();
}

/// What the owner took it fills again; what the rescuer took is gone from the slot.
void take_and_put() {
  shelf<2> all;
  all.put(0);
  explorer::run({[&] {
                   take(all.next.take());
                   all.put(1);
                   take(all.next.take());
                 },
                 [&] { take(all.next.rescue()); }});
  all.expect_all_taken();
}

/// A stuck owner is not at the slot: who rescues then has the item.
void an_owner_that_is_elsewhere() {
  shelf<2> all;
  all.put(0);
  all.put(1);
  explorer::run({[&] { take(all.next.rescue()); }});
  explorer::expect(all.items[1].taken == 1, "it is rescued");
  all.expect_all_taken();
}

TEST(lifo_slot_model, each_item_is_got_once_and_whole) {
  skua_model::expect_clean("one rescuer", bound(2), one_rescuer);
  skua_model::expect_clean("two rescuers", bound(2), two_rescuers);
  skua_model::expect_clean("take and put", bound(3), take_and_put);
  skua_model::expect_clean("the owner is elsewhere", bound(2), an_owner_that_is_elsewhere);
}

TEST(lifo_slot_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::put(", side::release}, bound(2), put_into_an_empty_slot);
  expect_killed({"::change(", side::acquire}, bound(2), take_and_put);
  expect_killed({"::change_among_rescuers(", side::release}, bound(2), two_rescuers);
  expect_killed({"::rescue(", side::acquire}, bound(2), put_into_an_empty_slot);
  expect_killed({"::rescue(", side::release}, bound(2), take_and_put);
}

TEST(lifo_slot_model, deeper) {
  skua_model::expect_clean_as_far_as(
      3, {{"one rescuer", one_rescuer}, {"two rescuers", two_rescuers}});
}

}  // namespace
