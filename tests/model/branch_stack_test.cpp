// tests/model/branch_stack_test.cpp: sources and the task at its stack: none is lost, none late.
#include "skua/coro/branch_stack.hpp"

#include "model/atomic.hpp"
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
using order = std::memory_order;
using side = skua_model::order_mutant::side;
using stack = skua::branch_stack<skua_model::atomics>;

void run_nothing(work&) noexcept {}

struct item : work {
  item() : work(run_nothing) {}
  plain<int> content;
  int taken = 0;
};

/// A task whose branches become ready one after the other. When it has seen all it is gone: whoever
/// touches it after that, and not before by what they know, has a race with the end.
template <std::size_t Count>
struct group {
  stack ready;
  std::array<item, Count> items;
  plain<int> how_to_wake;  // written by the task before it rests
  plain<int> life;         // of the group's memory
  skua_model::atomic<int> wake_{0};
  int left = Count;

  void push(std::size_t index) {
    items[index].content.write(7);
    if (!ready.push(items[index])) return;
    explorer::expect(how_to_wake.read() == 9, "it is known whom to wake");
    explorer::expect(life.read() == 0, "who is to be woken is there");
    wake_.store(1, order::release);
  }

  void run_until_all_have_come() {
    while (left > 0) {
      auto now = ready.take_all();
      while (work* const found = now.pop_front()) {
        auto& one = static_cast<item&>(*found);
        explorer::expect(one.content.read() == 7, "what made it ready is seen");
        explorer::expect(++one.taken == 1, "each is got once");
        --left;
      }
      if (left == 0) break;
      how_to_wake.write(9);
      if (ready.rest()) await_wake();
    }
    life.write(1);
  }

  void await_wake() {
    explorer::current().block_until([this] { return wake_.latest() == 1; }, "a wake");
    (void)wake_.exchange(0, order::acquire);
  }
};

void one_source() {
  group<2> all;
  explorer::run({[&] { all.run_until_all_have_come(); },
                 [&] {
                   all.push(0);
                   all.push(1);
                 }});
}

void two_sources() {
  group<3> all;
  explorer::run({[&] { all.run_until_all_have_come(); },
                 [&] {
                   all.push(0);
                   all.push(1);
                 },
                 [&] { all.push(2); }});
}

TEST(branch_stack_model, none_is_lost_and_the_task_is_woken_once) {
  skua_model::expect_clean("one source", bound(3), one_source);
  skua_model::expect_clean("two sources", bound(2), two_sources);
}

TEST(branch_stack_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::push(", side::release}, bound(2), one_source);
  expect_killed({"::push(", side::acquire}, bound(2), one_source);
  expect_killed({"::take_all(", side::acquire}, bound(2), one_source);
  expect_killed({"::rest(", side::release}, bound(2), one_source);
}

}  // namespace
